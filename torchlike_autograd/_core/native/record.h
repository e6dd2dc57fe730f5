/* Following the trie of recorded calls (record.py, hot.py). */

/* Values */

static PyObject *new_value(PyObject *aval, PyObject *needs, PyObject *tape, PyObject *slot)
{
    PyObject *v = Value->tp_alloc(Value, 0);
    if (v == NULL)
        return NULL;
    SLOT(v, v_aval) = Py_NewRef(aval);
    SLOT(v, v_needs) = Py_NewRef(needs);
    SLOT(v, v_tape) = Py_NewRef(tape);
    SLOT(v, v_slot) = Py_NewRef(slot);
    SLOT(v, v_array) = Py_NewRef(Py_None);
    SLOT(v, v_leaf) = Py_NewRef(Py_None);
    SLOT(v, v_seen) = Py_NewRef(Py_None);
    return v;
}

/* A Tensor over v, whose reference it takes. */
static PyObject *wrap(PyObject *v)
{
    if (v == NULL)
        return NULL;
    PyObject *t = Tensor->tp_alloc(Tensor, 0);
    if (t == NULL) {
        Py_DECREF(v);
        return NULL;
    }
    TENSOR(t)->v = v;
    return t;
}

/* The Value that a tensor shows now, new. */
static PyObject *read_value(PyObject *t)
{
    State *s = TENSOR(t);
    if (s->v != NULL && (IS_NONE(s->cell) || (Py_TYPE(s->cell) == Cell && s->at != NULL && s->at == SLOT(s->cell, cell_n))))
        return Py_NewRef(s->v); /* a shared cell looks at its memory first: `read` */
    return PyObject_CallOneArg(py_read, t);
}

/* The slot of v on a tape, borrowed; it enters the tape if it was made elsewhere. */
static PyObject *slot_on(PyObject *tape, PyObject *v)
{
    if (SLOT(v, v_tape) == tape)
        return SLOT(v, v_slot);
    PyObject *slots = SLOT(tape, tape_slots);
    PyObject *i = PyDict_GetItemWithError(slots, v);
    if (i != NULL || PyErr_Occurred())
        return i;
    PyObject *next = NULL;
    if (SLOT(v, v_array) != Py_None) {
        PyObject *label = PyTuple_Pack(2, SLOT(v, v_aval), SLOT(v, v_needs));
        if (label == NULL)
            return NULL;
        next = PyDict_GetItemWithError(SLOT(SLOT(tape, tape_prefix), prefix_next), label);
        Py_DECREF(label);
    }
    if (next == NULL) {
        if (PyErr_Occurred())
            return NULL;
        i = PyObject_CallFunctionObjArgs(py_enter, tape, v, NULL);
        if (i == NULL)
            return NULL;
        Py_DECREF(i);
        return PyDict_GetItemWithError(slots, v);
    }
    Py_INCREF(next);
    PyObject *inputs = SLOT(tape, tape_inputs);
    i = PyLong_FromSsize_t(-PyList_GET_SIZE(inputs) - 1);
    if (i == NULL || PyDict_SetItem(slots, v, i) < 0 || PyList_Append(inputs, v) < 0) {
        Py_XDECREF(i);
        Py_DECREF(next);
        return NULL;
    }
    set_slot(tape, tape_prefix, next);
    Py_DECREF(next);
    Py_DECREF(i); /* the dictionary holds it */
    return i;
}

static int push_number(PyObject *tape, PyObject *x)
{
    if (PyFloat_CheckExact(x))
        return PyList_Append(SLOT(tape, tape_floats), x);
    if (!PyComplex_CheckExact(x))
        return PyList_Append(SLOT(tape, tape_ints), x);
    Py_complex c = PyComplex_AsCComplex(x);
    PyObject *re = PyFloat_FromDouble(c.real), *im = PyFloat_FromDouble(c.imag);
    PyObject *floats = SLOT(tape, tape_floats);
    int bad = re == NULL || im == NULL || PyList_Append(floats, re) < 0 || PyList_Append(floats, im) < 0;
    Py_XDECREF(re);
    Py_XDECREF(im);
    return bad ? -1 : 0;
}

/* Whether a write to a tensor that shows `target` may follow an edge: same type, and a history where there was one. */
static int takes(PyObject *target, PyObject *edge)
{
    return SLOT(edge, prefix_aval) == SLOT(target, v_aval) && (!truth(SLOT(target, v_needs)) || truth(SLOT(edge, prefix_needs)));
}

/* The label of a call, new; its Values enter the tape. */
static PyObject *label_of(PyObject *tape, PyObject *spec, PyObject *mode, PyObject **ins, Py_ssize_t n)
{
    Py_ssize_t k = 2;
    for (Py_ssize_t i = 0; i < n; i++)
        k += Py_TYPE(ins[i]) == Value;
    PyObject *label = PyTuple_New(k);
    if (label == NULL)
        return NULL;
    PyTuple_SET_ITEM(label, 0, Py_NewRef(spec));
    PyTuple_SET_ITEM(label, 1, Py_NewRef(mode));
    k = 2;
    for (Py_ssize_t i = 0; i < n; i++)
        if (Py_TYPE(ins[i]) == Value) {
            PyObject *slot = slot_on(tape, ins[i]);
            if (slot == NULL) {
                Py_DECREF(label);
                return NULL;
            }
            PyTuple_SET_ITEM(label, k++, Py_NewRef(slot));
        }
    return label;
}

/* Whether there is an integer among the arguments that has no 64 bits, or a float that float32 cannot hold (record.beyond). */
static int too_big(PyObject **ins, Py_ssize_t n)
{
    int overflow = 0;
    for (Py_ssize_t i = 0; !overflow && i < n; i++)
        if (PyLong_CheckExact(ins[i]))
            PyLong_AsLongLongAndOverflow(ins[i], &overflow);
        else if (PyFloat_CheckExact(ins[i])) {
            double x = PyFloat_AS_DOUBLE(ins[i]);
            overflow = fabs(x) > FLT_MAX && isfinite(x);
        }
    return overflow;
}

/* The remembered edge for a call, new; NULL without an error where there is none.  The tape is moved along it, the numbers are noted.
   target: the Value that the result will replace, or NULL; several: whether an edge with several results will do; fresh: whether a new edge may be made. */
static PyObject *follow_any(PyObject *st, PyObject *tape, PyObject *spec, PyObject *mode, PyObject **ins, Py_ssize_t n, PyObject *target, int several, int fresh)
{
    PyObject *label = label_of(tape, spec, mode, ins, n);
    if (label == NULL)
        return NULL;
    PyObject *next = SLOT(st, st_tape) == tape ? PyDict_GetItemWithError(SLOT(SLOT(tape, tape_prefix), prefix_next), label) : NULL;
    if (next == NULL && fresh && SLOT(st, st_tape) == tape && !PyErr_Occurred() && !too_big(ins, n))
        next = extended(tape, spec, mode, label, ins, n);
    Py_DECREF(label);
    if (next == NULL || SLOT(st, st_tape) != tape || /* the collector may have run while the edge was made */
         Py_TYPE(next) != Prefix || (SLOT(next, prefix_aval) == NULL && !several) || (target != NULL && !takes(target, next)))
        return NULL;
    if (too_big(ins, n))
        return NULL; /* the general way decides */
    Py_INCREF(next);
    for (Py_ssize_t i = 0; i < n; i++)
        if (Py_TYPE(ins[i]) != Value && push_number(tape, ins[i]) < 0) {
            Py_DECREF(next);
            return NULL;
        }
    set_slot(tape, tape_prefix, next);
    return next;
}

#define MOST 8 /* arguments of the calls that are followed from their arguments on */

static PyObject *follow(PyObject *st, PyObject *tape, PyObject *spec, PyObject *mode, PyObject **ins, Py_ssize_t n, PyObject *target)
{
    return follow_any(st, tape, spec, mode, ins, n, target, 0, target == NULL);
}

/* The Value that an edge makes, new. */
static PyObject *result_of(PyObject *tape, PyObject *edge)
{
    PyObject *v = new_value(SLOT(edge, prefix_aval), SLOT(edge, prefix_needs), tape, SLOT(edge, prefix_first));
    if (v != NULL && PyList_Append(SLOT(tape, tape_values), v) < 0)
        Py_CLEAR(v);
    return v;
}

/* The list of Values that an edge makes, new. */
static PyObject *results_of(PyObject *tape, PyObject *edge)
{
    PyObject *step = SLOT(edge, prefix_step), *avals = SLOT(step, step_out_avals), *needs = SLOT(step, step_needs);
    Py_ssize_t n = PyTuple_GET_SIZE(avals), first = PyLong_AsSsize_t(SLOT(step, step_first));
    PyObject *out = PyList_New(n);
    for (Py_ssize_t i = 0; out != NULL && i < n; i++) {
        PyObject *slot = PyLong_FromSsize_t(first + i);
        PyObject *v = slot == NULL ? NULL : new_value(PyTuple_GET_ITEM(avals, i), PyTuple_GET_ITEM(needs, i), tape, slot);
        Py_XDECREF(slot);
        if (v == NULL || PyList_Append(SLOT(tape, tape_values), v) < 0) {
            Py_XDECREF(v);
            Py_CLEAR(out);
        }
        else
            PyList_SET_ITEM(out, i, v);
    }
    return out;
}

/* Whether the operator of a spec has no gradient. */
static int has_none(PyObject *spec)
{
    PyObject *op = PyObject_GetAttr(spec, s_op), *d = op == NULL ? NULL : PyObject_GetAttr(op, s_derivative);
    int out = d != NULL && PyUnicode_Check(d) && PyUnicode_CompareWithASCIIString(d, "none") == 0;
    PyErr_Clear();
    Py_XDECREF(op);
    Py_XDECREF(d);
    return out;
}

/* ends.goes_on: whether a call reads what this tape computes or the data of a leaf, and nothing that requires grad but for a number without a gradient. */
static int goes_on(PyObject *tape, PyObject *spec, PyObject **ins, Py_ssize_t n)
{
    int reads = 0, needs = 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (Py_TYPE(ins[i]) == Value) {
            PyObject *own = SLOT(ins[i], v_tape);
            if (truth(SLOT(ins[i], v_needs))) {
                if (own != tape || SLOT(ins[i], v_leaf) != Py_None)
                    return 0;
                needs = 1;
            }
            reads |= own == tape || (own == Py_None && PyLong_AsLong(SLOT(ins[i], v_slot)) == -1);
        }
    return reads && (!needs || has_none(spec));
}

/* The tape to record on, new: where a backward pass is recorded and a call in grad mode comes, the next training step begins (record._record_new). */
static PyObject *tape_for(PyObject *st, PyObject *spec, PyObject *mode, PyObject **ins, Py_ssize_t n)
{
    PyObject *tape = SLOT(st, st_tape);
    if (SLOT(SLOT(tape, tape_prefix), prefix_turned) != Py_True || (mode != Py_True && mode != ONE && mode != INPLACE) || PyList_GET_SIZE(SLOT(tape, tape_values)) == 0 ||
        goes_on(tape, spec, ins, n))
        return Py_NewRef(tape);
    PyObject *r = PyObject_CallOneArg(py_flush, tape);
    Py_XDECREF(r);
    return r == NULL ? NULL : Py_NewRef(SLOT(st, st_tape));
}

/* record.record_op in Python: the list of results, new. */
static PyObject *record_generally(PyObject *spec, PyObject *mode, PyObject **ins, Py_ssize_t n)
{
    PyObject *flat = PyTuple_New(n);
    for (Py_ssize_t i = 0; flat != NULL && i < n; i++)
        PyTuple_SET_ITEM(flat, i, Py_NewRef(ins[i]));
    PyObject *out = flat == NULL ? NULL : PyObject_CallFunctionObjArgs(py_record_op, spec, flat, mode, NULL);
    Py_XDECREF(flat);
    return out;
}

/* record.record_op: the list of results, new.  mode: NULL for the thread's grad mode. */
static PyObject *record_all(PyObject *spec, PyObject *mode, PyObject **ins, Py_ssize_t n)
{
    PyObject *st = state();
    int locked = st == NULL ? -1 : lock();
    if (locked < 0)
        return NULL;
    PyObject *own = mode == NULL ? SLOT(st, st_grad) : mode, *out = NULL, *tape = tape_for(st, spec, own, ins, n);
    PyObject *edge = tape == NULL ? NULL : follow_any(st, tape, spec, own, ins, n, NULL, 1, 1);
    if (edge != NULL) {
        out = results_of(tape, edge);
        Py_DECREF(edge);
    }
    else if (!PyErr_Occurred())
        out = record_generally(spec, mode, ins, n);
    Py_XDECREF(tape);
    unlock(locked);
    return out;
}

/* Record a call with one result on Values and numbers: its Value, new.  mode: NULL for the thread's grad mode. */
static PyObject *record_in(PyObject *spec, PyObject *mode, PyObject **ins, int n)
{
    PyObject *st = state();
    int locked = st == NULL ? -1 : lock();
    if (locked < 0)
        return NULL;
    PyObject *own = mode == NULL ? SLOT(st, st_grad) : mode, *v = NULL, *tape = tape_for(st, spec, own, ins, n);
    PyObject *edge = tape == NULL ? NULL : follow(st, tape, spec, own, ins, n, NULL);
    if (edge != NULL) {
        v = result_of(tape, edge);
        Py_DECREF(edge);
    }
    else if (!PyErr_Occurred()) {
        PyObject *out = record_generally(spec, mode, ins, n);
        v = out == NULL ? NULL : PySequence_GetItem(out, 0);
        Py_XDECREF(out);
    }
    Py_XDECREF(tape);
    unlock(locked);
    return v;
}

static PyObject *record(PyObject *spec, PyObject **ins, int n)
{
    return record_in(spec, NULL, ins, n);
}

/* laying.bent */
static int bent(PyObject *t)
{
    State *s = TENSOR(t);
    return !IS_NONE(s->layout) || (!IS_NONE(s->view) && (SLOT(s->view, view_bent) == Py_True || SLOT(s->cell, cell_layout) != Py_None));
}

/* The result of a call with its strides set as the entry says (laying.lay); takes the reference to `out`. */
static PyObject *laid(PyObject *out, PyObject *spec, PyObject *const *flat, Py_ssize_t n)
{
    PyObject *lies = SLOT(spec, spec_lies);
    if (out == NULL || lies == Py_None)
        return out;
    int ask = lies == Py_True;
    for (Py_ssize_t i = 0; i < n && !ask; i++)
        ask = PyObject_TypeCheck(flat[i], Tensor) && bent(flat[i]);
    if (!ask)
        return out;
    PyObject *given = PyTuple_New(n), *outs = PyTuple_Pack(1, out), *r = NULL;
    if (given != NULL && outs != NULL) {
        for (Py_ssize_t i = 0; i < n; i++)
            PyTuple_SET_ITEM(given, i, Py_NewRef(flat[i]));
        r = PyObject_CallFunctionObjArgs(py_lay, spec, given, outs, NULL);
    }
    Py_XDECREF(given);
    Py_XDECREF(outs);
    if (r == NULL)
        Py_CLEAR(out);
    Py_XDECREF(r);
    return out;
}

static PyObject *unary(PyObject *spec, PyObject *x)
{
    PyObject *v = read_value(x);
    if (v == NULL)
        return NULL;
    PyObject *out = record(spec, &v, 1);
    Py_DECREF(v);
    return laid(wrap(out), spec, &x, 1);
}

static PyObject *binary(PyObject *spec, PyObject *x, PyObject *y)
{
    PyObject *ins[2] = {read_value(x), NULL};
    if (ins[0] == NULL)
        return NULL;
    ins[1] = read_value(y);
    PyObject *out = ins[1] == NULL ? NULL : record(spec, ins, 2);
    Py_DECREF(ins[0]);
    Py_XDECREF(ins[1]);
    PyObject *flat[2] = {x, y};
    return laid(wrap(out), spec, flat, 2);
}

/* Whether the spec takes its number before its tensor. */
static int number_first(PyObject *spec)
{
    PyObject *pattern = PyObject_GetAttr(spec, s_pattern);
    if (pattern == NULL)
        return -1;
    PyObject *first = PyTuple_GET_ITEM(pattern, 0);
    int out = !(PyUnicode_Check(first) && PyUnicode_CompareWithASCIIString(first, "T") == 0);
    Py_DECREF(pattern);
    return out;
}

static PyObject *numbered(PyObject *spec, PyObject *x, PyObject *number)
{
    int swap = number_first(spec);
    PyObject *v = swap < 0 ? NULL : read_value(x);
    if (v == NULL)
        return NULL;
    PyObject *ins[2] = {swap ? number : v, swap ? v : number};
    PyObject *out = record(spec, ins, 2);
    Py_DECREF(v);
    return out;
}

static PyObject *with_number(PyObject *spec, PyObject *x, PyObject *number)
{
    PyObject *out = wrap(numbered(spec, x, number));
    PyObject *lies = SLOT(spec, spec_lies);
    if (out == NULL || lies == Py_None || (lies == Py_False && !bent(x)))
        return out;
    int swap = number_first(spec);
    PyObject *flat[2] = {swap ? number : x, swap ? x : number};
    return laid(out, spec, flat, 2);
}
