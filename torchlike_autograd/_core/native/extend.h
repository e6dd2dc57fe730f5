/* New edges of the trie for calls whose types are known (record.extend): a new program of old operators. */

static PyObject *number_avals, *record_limit, *made_nodes; /* spec.NUMBERS, record.LIMIT, record.ROOT_NODES */
static PyObject *s_op, *s_kinds[4];
static PyTypeObject *Spec, *Form, *Step;
static Py_ssize_t spec_forms, form_diff_in, form_diff_out, form_out_avals;
static Py_ssize_t step_kind, step_form, step_mode, step_packed, step_wanted;
static Py_ssize_t prefix_parent, prefix_size, prefix_inputs, prefix_numbers, prefix_weight, prefix_watched, prefix_frees, prefix_setup, prefix_guarded;

/* 0: a float, 1: an integer, 2: a bool, 3: a complex number (record.number_kind). */
static int number_kind(PyObject *x)
{
    return PyFloat_CheckExact(x) ? 0 : PyLong_CheckExact(x) ? 1 : PyBool_Check(x) ? 2 : 3;
}

/* Whether a call reads nothing that a tape computes. */
static int apart_from(PyObject *tape, PyObject **ins, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (Py_TYPE(ins[i]) == Value && SLOT(ins[i], v_tape) == tape)
            return 0;
    return 1;
}

/* Whether the general way has nothing else to decide than the edge: no full tape, no inference tensors, nobody who looks at each call. */
static int ordinary(PyObject *tape, PyObject *spec, PyObject *mode, PyObject **ins, Py_ssize_t n)
{
    PyObject *prefix = SLOT(tape, tape_prefix);
    if (Py_TYPE(spec) != Spec || PyList_GET_ITEM(immediate, 0) != Py_False || SLOT(prefix, prefix_watched) != Py_False)
        return 0;
    if (mode != Py_True && mode != Py_False && mode != NOGRAD && mode != ONE && mode != INPLACE && mode != LEAF)
        return 0;
    if (PyLong_AsLong(SLOT(prefix, prefix_setup)) != 2 && (mode == LEAF || PyLong_AsLong(SLOT(prefix, prefix_setup)) != 0))
        return 0; /* setting up a model: ends.setup_after, ends.is_full */
    if (PyLong_AsLong(SLOT(prefix, prefix_setup)) != 2 && (PyLong_AsLong(SLOT(prefix, prefix_size)) >= PyLong_AsLong(PyList_GET_ITEM(record_limit, 1)) || apart_from(tape, ins, n)))
        return 0; /* turns of a loop, or nobody may hold what there is: ends.ends_turns, ends.is_dead */
    if (PyList_GET_SIZE(SLOT(tape, tape_values)) && PyLong_AsLong(SLOT(prefix, prefix_weight)) + 1 > PyLong_AsLong(PyList_GET_ITEM(record_limit, 0)))
        return 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (Py_TYPE(ins[i]) == Value && SLOT(ins[i], v_needs) != Py_True && SLOT(ins[i], v_needs) != Py_False)
            return 0;
    return !PyErr_Occurred();
}

/* The Form of a spec at the types of a call, borrowed; NULL without an error where it is not known. */
static PyObject *form_at(PyObject *spec, PyObject **ins, Py_ssize_t n)
{
    PyObject *avals = PyTuple_New(n), *out = NULL;
    if (avals == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        PyTuple_SET_ITEM(avals, i, Py_NewRef(Py_TYPE(ins[i]) == Value ? SLOT(ins[i], v_aval) : PyTuple_GET_ITEM(number_avals, number_kind(ins[i]))));
    out = PyDict_GetItemWithError(SLOT(spec, spec_forms), avals);
    Py_DECREF(avals);
    return out != NULL && Py_TYPE(out) == Form ? out : NULL;
}

/* The flat inputs through which gradient flows, new. */
static PyObject *wanted_of(PyObject *form, PyObject **ins)
{
    PyObject *all = SLOT(form, form_diff_in), *list = PyList_New(0);
    for (Py_ssize_t k = 0; list != NULL && k < PyTuple_GET_SIZE(all); k++) {
        PyObject *i = PyTuple_GET_ITEM(all, k), *x = ins[PyLong_AsSsize_t(i)];
        if (Py_TYPE(x) == Value && SLOT(x, v_needs) == Py_True && PyList_Append(list, i) < 0)
            Py_CLEAR(list);
    }
    PyObject *out = list == NULL ? NULL : PyList_AsTuple(list);
    Py_XDECREF(list);
    return out;
}

/* Whether each result requires grad, new. */
static PyObject *needs_of(PyObject *form, int needing)
{
    PyObject *having = SLOT(form, form_diff_out);
    Py_ssize_t n = PyTuple_GET_SIZE(SLOT(form, form_out_avals));
    PyObject *out = PyTuple_New(n);
    for (Py_ssize_t i = 0; out != NULL && i < n; i++)
        PyTuple_SET_ITEM(out, i, Py_NewRef(Py_False));
    for (Py_ssize_t k = 0; out != NULL && needing && k < PyTuple_GET_SIZE(having); k++) {
        PyObject **place = &PyTuple_GET_ITEM(out, PyLong_AsSsize_t(PyTuple_GET_ITEM(having, k)));
        Py_SETREF(*place, Py_NewRef(Py_True));
    }
    return out;
}

/* Slots of Values and places of numbers, new; *numbers: how many there are after the call, new (record._places). */
static PyObject *places_of(PyObject *prefix, PyObject *label, PyObject **ins, Py_ssize_t n, PyObject **numbers)
{
    PyObject *before = SLOT(prefix, prefix_numbers), *out = PyTuple_New(n);
    Py_ssize_t floats = PyLong_AsSsize_t(PyTuple_GET_ITEM(before, 0)), ints = PyLong_AsSsize_t(PyTuple_GET_ITEM(before, 1)), at = 2, all = floats + ints;
    for (Py_ssize_t i = 0; out != NULL && i < n; i++) {
        PyObject *place;
        if (Py_TYPE(ins[i]) == Value)
            place = Py_NewRef(PyTuple_GET_ITEM(label, at++));
        else {
            int kind = number_kind(ins[i]), whole = kind == 1 || kind == 2;
            place = Py_BuildValue("On", s_kinds[kind], whole ? ints : floats);
            if (whole)
                ints++;
            else
                floats += kind == 0 ? 1 : 2;
        }
        if (place == NULL)
            Py_CLEAR(out);
        else
            PyTuple_SET_ITEM(out, i, place);
    }
    *numbers = out == NULL ? NULL : floats + ints == all ? Py_NewRef(before) : Py_BuildValue("nn", floats, ints);
    if (*numbers == NULL)
        Py_CLEAR(out);
    return out;
}

static PyObject *plus(PyObject *a, Py_ssize_t b)
{
    return PyLong_FromSsize_t(PyLong_AsSsize_t(a) + b);
}

struct slot {
    Py_ssize_t offset;
    PyObject *x;
};

/* An object of slots, each of which takes the reference that it is given; new, NULL where one of them is missing. */
static PyObject *made(PyTypeObject *type, const struct slot *slots, size_t n)
{
    PyObject *out = type->tp_alloc(type, 0);
    int bad = out == NULL;
    for (size_t i = 0; i < n; i++) {
        bad |= slots[i].x == NULL;
        if (out != NULL)
            SLOT(out, slots[i].offset) = slots[i].x;
        else
            Py_XDECREF(slots[i].x);
    }
    if (bad)
        Py_CLEAR(out);
    return out;
}

/* The node that a step leads to, new (record.new_prefix); the references to step and numbers are taken. */
static PyObject *prefix_after(PyObject *prefix, PyObject *step, PyObject *numbers, int matters, PyObject *checks)
{
    PyObject *avals = step == NULL ? NULL : SLOT(step, step_out_avals), *setup = SLOT(prefix, prefix_setup);
    if (step == NULL) {
        Py_XDECREF(numbers);
        return NULL;
    }
    struct slot slots[] = {
        {prefix_parent, Py_NewRef(prefix)}, {prefix_step, step}, {prefix_numbers, numbers}, {prefix_weight, plus(SLOT(prefix, prefix_weight), 1)},
        {prefix_size, plus(SLOT(prefix, prefix_size), PyTuple_GET_SIZE(avals))}, {prefix_inputs, Py_NewRef(SLOT(prefix, prefix_inputs))},
        {prefix_next, PyDict_New()}, {prefix_notes, Py_NewRef(Py_False)}, {prefix_used, Py_NewRef(ZERO)}, {prefix_turned, Py_NewRef(SLOT(prefix, prefix_turned))},
        {prefix_watched, Py_NewRef(Py_False)}, {prefix_frees, Py_NewRef(SLOT(prefix, prefix_frees))},
        {prefix_setup, matters ? PyLong_FromLong(2) : Py_NewRef(setup)},
        {prefix_guarded, Py_NewRef(checks == Py_True ? checks : SLOT(prefix, prefix_guarded))},
    };
    PyObject *out = made(Prefix, slots, sizeof slots / sizeof *slots);
    if (out != NULL && PyTuple_GET_SIZE(avals) == 1) {
        SLOT(out, prefix_aval) = Py_NewRef(PyTuple_GET_ITEM(avals, 0));
        SLOT(out, prefix_needs) = Py_NewRef(PyTuple_GET_ITEM(SLOT(step, step_needs), 0));
        SLOT(out, prefix_first) = Py_NewRef(SLOT(step, step_first));
    }
    return out;
}

/* A new edge for a call, borrowed from the trie; NULL without an error where the general way has to decide. */
static PyObject *extended(PyObject *tape, PyObject *spec, PyObject *mode, PyObject *label, PyObject **ins, Py_ssize_t n)
{
    PyObject *form = ordinary(tape, spec, mode, ins, n) ? form_at(spec, ins, n) : NULL;
    if (form == NULL)
        return NULL;
    PyObject *prefix = SLOT(tape, tape_prefix), *wanted = wanted_of(form, ins), *numbers = NULL, *places = NULL, *next = NULL;
    int leaf = mode == LEAF, grad = mode == Py_True || mode == ONE || mode == INPLACE;
    int needing = wanted != NULL && (leaf || (grad && PyTuple_GET_SIZE(wanted)));
    if (wanted != NULL)
        places = places_of(prefix, label, ins, n, &numbers);
    if (places == NULL) {
        Py_XDECREF(wanted);
        return NULL;
    }
    PyObject *needs = needs_of(form, needing);
    int matters = leaf || (needs != NULL && PySequence_Contains(needs, Py_True) == 1);
    struct slot slots[] = {
        {step_kind, Py_NewRef(s_op)}, {step_form, Py_NewRef(form)}, {step_ins, places}, {step_mode, Py_NewRef(mode)}, {step_wanted, wanted},
        {step_out_avals, Py_NewRef(SLOT(form, form_out_avals))}, {step_needs, needs}, {step_first, Py_NewRef(SLOT(prefix, prefix_size))},
        {step_packed, Py_NewRef(Py_False)},
    };
    next = prefix_after(prefix, made(Step, slots, sizeof slots / sizeof *slots), numbers, matters, SLOT(spec, spec_checks));
    PyObject *count = next == NULL ? NULL : plus(PyList_GET_ITEM(made_nodes, 0), 1);
    if (count == NULL || PyDict_SetItem(SLOT(prefix, prefix_next), label, next) < 0) {
        Py_XDECREF(count);
        Py_XDECREF(next);
        return NULL;
    }
    PyList_SetItem(made_nodes, 0, count);
    Py_DECREF(next); /* the trie holds it */
    return next;
}
