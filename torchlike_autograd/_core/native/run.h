/* Running compiled programs (execute.py). */

/* A run of a compiled program */

/* The runtime numbers of a tape as bytes: floats, then integers; NULL without an error where an integer does not fit. */
static PyObject *raw_numbers(PyObject *floats, PyObject *ints)
{
    Py_ssize_t n = PyList_GET_SIZE(floats), m = PyList_GET_SIZE(ints);
    PyObject *raw = PyBytes_FromStringAndSize(NULL, 8 * (n + m));
    if (raw == NULL)
        return NULL;
    char *at = PyBytes_AS_STRING(raw);
    for (Py_ssize_t i = 0; i < n; i++, at += 8) {
        double x = PyFloat_AS_DOUBLE(PyList_GET_ITEM(floats, i));
        memcpy(at, &x, 8);
    }
    for (Py_ssize_t i = 0; i < m; i++, at += 8) {
        int overflow;
        int64_t x = PyLong_AsLongLongAndOverflow(PyList_GET_ITEM(ints, i), &overflow);
        if (overflow || (x == -1 && PyErr_Occurred())) {
            Py_DECREF(raw);
            return NULL;
        }
        memcpy(at, &x, 8);
    }
    return raw;
}

/* execute._numbers, new: what is on the device already where the numbers are those of the last run. */
static PyObject *numbers_of(PyObject *program, PyObject *tape)
{
    if (SLOT(program, program_numbers) != Py_True)
        Py_RETURN_NONE;
    PyObject *floats = SLOT(tape, tape_floats), *ints = SLOT(tape, tape_ints);
    PyObject *raw = raw_numbers(floats, ints), *sent = SLOT(program, program_sent);
    if (raw == NULL && PyErr_Occurred())
        return NULL;
    if (raw != NULL && PyTuple_CheckExact(sent)) {
        PyObject *last = PyTuple_GET_ITEM(sent, 0), *array = PyTuple_GET_ITEM(sent, 1);
        if (array != Py_None && PyBytes_CheckExact(last) && PyBytes_GET_SIZE(last) == PyBytes_GET_SIZE(raw) &&
            memcmp(PyBytes_AS_STRING(last), PyBytes_AS_STRING(raw), PyBytes_GET_SIZE(raw)) == 0) {
            Py_DECREF(raw);
            return Py_NewRef(array);
        }
    }
    PyObject *out = raw == NULL ? PyObject_CallFunctionObjArgs(py_numbers, program, floats, ints, NULL) : PyObject_CallFunctionObjArgs(py_sent, program, raw, NULL);
    Py_XDECREF(raw);
    return out;
}

/* results.completed: all results of a program, new, from those that it computed (whose reference is taken) and its inputs. */
static PyObject *completed(PyObject *sources, PyObject *computed, PyObject **inputs)
{
    if (sources == Py_None || computed == NULL)
        return computed;
    Py_ssize_t n = PyTuple_GET_SIZE(sources);
    PyObject *made = PySequence_Fast(computed, "results are a sequence"), *out = made == NULL ? NULL : PyList_New(n);
    for (Py_ssize_t i = 0; out != NULL && i < n; i++) {
        PyObject *s = PyTuple_GET_ITEM(sources, i);
        if (PyLong_CheckExact(s)) {
            Py_ssize_t k = PyLong_AsSsize_t(s);
            s = k < 0 ? inputs[-1 - k] : PySequence_Fast_GET_ITEM(made, k);
        }
        PyList_SET_ITEM(out, i, Py_NewRef(s));
    }
    Py_XDECREF(made);
    Py_DECREF(computed);
    return out;
}

/* Copies in place of the arguments that the program would overwrite and somebody besides the tape holds (donation.held). */
static int keep_what_is_held(PyObject *program, PyObject *inputs, PyObject **arguments)
{
    PyObject *given = SLOT(program, program_donates), *places = SLOT(program, program_places);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++) {
        Py_ssize_t k = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, i));
        PyObject *v = PyList_GET_ITEM(inputs, PyLong_AsSsize_t(PyList_GET_ITEM(places, k)));
        if (Py_REFCNT(v) <= 2 && Py_REFCNT(arguments[k]) <= 2) /* the tape's list and dict; v and the arguments */
            continue;
        PyObject *copy = PyObject_CallOneArg(py_spare, arguments[k]);
        if (copy == NULL)
            return -1;
        Py_SETREF(arguments[k], copy);
    }
    return 0;
}

/* The results of a compiled program on what a tape holds. */
static PyObject *run_program(PyObject *program, PyObject *tape)
{
    PyObject *inputs = SLOT(tape, tape_inputs), *places = SLOT(program, program_places), *out = NULL;
    Py_ssize_t n = PyList_GET_SIZE(places), k = 0;
    PyObject **flat = PyMem_Malloc((n + 1) * sizeof *flat);
    if (flat == NULL)
        return PyErr_NoMemory();
    flat[0] = numbers_of(program, tape);
    if (flat[0] != NULL)
        for (k = 1; k <= n; k++) {
            PyObject *v = PyList_GET_ITEM(inputs, PyLong_AsSsize_t(PyList_GET_ITEM(places, k - 1)));
            PyObject *a = SLOT(v, v_array);
            flat[k] = a == Py_None || Py_TYPE(a) == Array ? PyObject_CallOneArg(py_device_array, v) : Py_NewRef(a);
            if (flat[k] == NULL)
                break;
        }
    if (k == n + 1 && keep_what_is_held(program, inputs, flat + 1) == 0)
        out = completed(SLOT(program, program_sources), PyObject_Vectorcall(SLOT(program, program_compiled), flat, n + 1, NULL), flat + (flat[0] == Py_None));
    while (k)
        Py_DECREF(flat[--k]);
    PyMem_Free(flat);
    return out;
}

/* Give the Values that somebody holds their arrays. */
static int show(PyObject *values, PyObject *shown, PyObject *arrays)
{
    arrays = PySequence_Fast(arrays, "arrays is a sequence");
    if (arrays == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shown); i++) {
        PyObject *v = PyList_GET_ITEM(values, PyLong_AsSsize_t(PyTuple_GET_ITEM(shown, i)));
        set_slot(v, v_array, PySequence_Fast_GET_ITEM(arrays, i));
        if (!truth(SLOT(v, v_needs)) || SLOT(v, v_leaf) != Py_None)
            set_slot(v, v_tape, Py_None);
    }
    Py_DECREF(arrays);
    return 0;
}

static PyObject *speed_run(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return run_program(args[0], args[1]);
}

static PyObject *speed_deliver(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return show(args[0], args[1], args[2]) < 0 ? NULL : Py_NewRef(Py_None);
}

/* What a new record.Tape holds: its slots by kind. */
enum { A_LIST, A_DICT, A_SET };
static struct { const char *slot; int kind; Py_ssize_t offset; } tape_fields[] = {
    {"values", A_LIST, 0}, {"inputs", A_LIST, 0}, {"floats", A_LIST, 0}, {"ints", A_LIST, 0}, {"slots", A_DICT, 0}, {"leaves", A_DICT, 0},
    {"seen", A_DICT, 0}, {"contexts", A_DICT, 0}, {"extra", A_DICT, 0}, {"lines", A_DICT, 0}, {"kept", A_DICT, 0}, {"freed", A_SET, 0},
};
#define TAPE_FIELDS (sizeof tape_fields / sizeof *tape_fields)

/* record.Tape(owner) */
static PyObject *new_tape(PyObject *owner)
{
    PyObject *tape = Tape->tp_alloc(Tape, 0), *serial = NULL, *last = SLOT(owner, st_tape);
    if (tape == NULL)
        return NULL;
    for (size_t i = 0; i < TAPE_FIELDS; i++) {
        int kind = tape_fields[i].kind;
        PyObject *x = kind == A_LIST ? PyList_New(0) : kind == A_DICT ? PyDict_New() : PySet_New(NULL);
        if (x == NULL)
            goto fail;
        SLOT(tape, tape_fields[i].offset) = x;
    }
    serial = PyNumber_Add(PyList_GET_ITEM(serials, 0), ONE);
    if (serial == NULL)
        goto fail;
    SLOT(tape, tape_serial) = Py_NewRef(serial);
    PyList_SetItem(serials, 0, serial);
    SLOT(tape, tape_before) = PyNumber_Add(SLOT(last, tape_before), SLOT(SLOT(last, tape_prefix), prefix_size));
    if (SLOT(tape, tape_before) == NULL)
        goto fail;
    SLOT(tape, tape_owner) = Py_NewRef(owner);
    SLOT(tape, tape_prefix) = Py_NewRef(SLOT(owner, st_root));
    SLOT(tape, tape_program) = Py_NewRef(Py_None);
    SLOT(tape, tape_edges) = Py_NewRef(no_numbers);
    SLOT(tape, tape_open) = Py_NewRef(Py_True);
    return tape;
fail:
    Py_DECREF(tape);
    return NULL;
}

static PyObject *speed_new_tape(PyObject *module, PyObject *owner)
{
    return new_tape(owner);
}

static int count(PyObject *counters, PyObject *name)
{
    PyObject *old = PyDict_GetItemWithError(counters, name), *n = old == NULL ? NULL : PyNumber_Add(old, ONE);
    int bad = n == NULL || PyDict_SetItem(counters, name, n) < 0;
    Py_XDECREF(n);
    return bad ? -1 : 0;
}

static PyObject *mask_of(PyObject *values)
{
    Py_ssize_t n = PyList_GET_SIZE(values);
    PyObject *out = PyBytes_FromStringAndSize(NULL, n);
    if (out != NULL)
        for (Py_ssize_t i = 0; i < n; i++)
            PyBytes_AS_STRING(out)[i] = Py_REFCNT(PyList_GET_ITEM(values, i)) > 1;
    return out;
}

/* The compiled program for what is pending on a tape, borrowed; NULL where the general way has to go. */
static PyObject *ready_program(PyObject *tape)
{
    PyObject *programs = SLOT(SLOT(tape, tape_prefix), prefix_programs);
    if (programs == NULL)
        return NULL;
    PyObject *mask = mask_of(SLOT(tape, tape_values));
    PyObject *program = mask == NULL ? NULL : PyDict_GetItemWithError(programs, mask);
    Py_XDECREF(mask);
    if (program == NULL || SLOT(program, program_compiled) == Py_None)
        return NULL;
    return program;
}

static int comes_from_a_tape(PyObject *v)
{
    return truth(SLOT(v, v_needs)) && SLOT(v, v_leaf) == Py_None && SLOT(v, v_tape) != Py_None;
}

/* program.edges_lead, where any edge goes to a tape: new, None where none does. */
static PyObject *edges_lead(PyObject *program, PyObject *inputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(inputs); i++)
        if (comes_from_a_tape(PyList_GET_ITEM(inputs, i)))
            return PyObject_CallOneArg(py_edges_lead, program);
    return Py_NewRef(Py_None);
}

/* The tape's edges to the outside, new. */
static PyObject *edges_of(PyObject *program, PyObject *inputs)
{
    PyObject *leads = edges_lead(program, inputs);
    Py_ssize_t n = PyList_GET_SIZE(inputs);
    PyObject *edges = leads == NULL ? NULL : PyList_New(n);
    for (Py_ssize_t i = 0; edges != NULL && i < n; i++) {
        PyObject *v = PyList_GET_ITEM(inputs, i), *edge = Py_None;
        if (truth(SLOT(v, v_needs)) && SLOT(v, v_leaf) != Py_None)
            edge = SLOT(v, v_leaf);
        else if (comes_from_a_tape(v) && PyBytes_AS_STRING(leads)[i]) {
            edge = PyTuple_Pack(2, SLOT(v, v_tape), SLOT(v, v_slot));
            if (edge == NULL) {
                Py_CLEAR(edges);
                break;
            }
            PyList_SET_ITEM(edges, i, edge);
            continue;
        }
        PyList_SET_ITEM(edges, i, Py_NewRef(edge));
    }
    Py_XDECREF(leads);
    return edges;
}

/* One Value that a graph keeps, new: an input, what is shown as data already, or plain data of its own. */
static PyObject *kept_value(PyObject *tape, PyObject *entry, PyObject *arrays)
{
    Py_ssize_t slot = PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 0));
    if (slot < 0)
        return Py_NewRef(PyList_GET_ITEM(SLOT(tape, tape_inputs), -slot - 1));
    PyObject *v = PyList_GET_ITEM(SLOT(tape, tape_values), slot);
    if (SLOT(v, v_tape) == Py_None && SLOT(v, v_array) != Py_None)
        return Py_NewRef(v);
    v = new_value(PyTuple_GET_ITEM(entry, 2), Py_False, Py_None, ZERO);
    if (v != NULL)
        set_slot(v, v_array, PySequence_Fast_GET_ITEM(arrays, PyLong_AsSsize_t(PyTuple_GET_ITEM(entry, 1))));
    return v;
}

/* execute._keep: turn the tape into a graph. */
static int keep(PyObject *tape, PyObject *program, PyObject *arrays)
{
    PyObject *edges = edges_of(program, SLOT(tape, tape_inputs)), *kept = PyDict_New(), *keeps = SLOT(program, program_keeps);
    arrays = PySequence_Fast(arrays, "arrays is a sequence");
    int bad = edges == NULL || kept == NULL || arrays == NULL;
    for (Py_ssize_t i = 0; !bad && i < PyTuple_GET_SIZE(keeps); i++) {
        PyObject *entry = PyTuple_GET_ITEM(keeps, i), *v = kept_value(tape, entry, arrays);
        bad = v == NULL || PyDict_SetItem(kept, PyTuple_GET_ITEM(entry, 0), v) < 0;
        Py_XDECREF(v);
    }
    if (!bad) {
        set_slot(tape, tape_edges, edges);
        set_slot(tape, tape_kept, kept);
    }
    Py_XDECREF(edges);
    Py_XDECREF(kept);
    Py_XDECREF(arrays);
    return bad ? -1 : 0;
}

static int await_codes(PyObject *arrays, PyObject *program, PyObject *tape)
{
    PyObject *codes = PySequence_GetItem(arrays, -1);
    PyObject *r = codes == NULL ? NULL : PyObject_CallFunctionObjArgs(py_await_codes, codes, program, tape, NULL);
    Py_XDECREF(codes);
    Py_XDECREF(r);
    return r == NULL ? -1 : 0;
}

/* execute._execute and execute._deliver of a compiled program. */
static int run_and_deliver(PyObject *program, PyObject *tape)
{
    if (count(stats, s_flushes) < 0 || count(stats, s_hits) < 0 || increment(program, program_runs) < 0 ||
        increment(SLOT(program, program_prefix), prefix_used) < 0)
        return -1;
    PyObject *credit = PyList_GET_ITEM(credits, 0);
    if (PyObject_RichCompareBool(credit, PyList_GET_ITEM(credits, 1), Py_LT) == 1) {
        credit = PyNumber_Add(credit, ONE);
        if (credit == NULL || PyList_SetItem(credits, 0, credit) < 0)
            return -1;
    }
    PyObject *arrays = run_program(program, tape);
    if (arrays == NULL)
        return -1;
    if (PyTuple_GET_SIZE(SLOT(program, program_guarded)) && await_codes(arrays, program, tape) < 0) {
        Py_DECREF(arrays);
        return -1;
    }
    int bad = show(SLOT(tape, tape_values), SLOT(program, program_shown), arrays) < 0;
    set_slot(tape, tape_program, program);
    if (SLOT(program, program_graph) == Py_True)
        bad = bad || keep(tape, program, arrays) < 0;
    else {
        PyDict_Clear(SLOT(tape, tape_kept));
        PyDict_Clear(SLOT(tape, tape_leaves));
        PyDict_Clear(SLOT(tape, tape_seen));
    }
    Py_DECREF(arrays);
    return bad ? -1 : 0;
}

static int empty(PyObject *list)
{
    return PyList_SetSlice(list, 0, PyList_GET_SIZE(list), NULL);
}

/* flush(tape): run what is pending on an open tape that holds values; False, and nothing done, where the general way has to go.  Under the lock. */
static PyObject *speed_flush(PyObject *module, PyObject *tape)
{
    PyObject *program = ready_program(tape);
    if (program == NULL)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_False);
    PyObject *owner = SLOT(tape, tape_owner);
    Py_INCREF(program);
    Py_INCREF(tape);
    set_slot(tape, tape_open, Py_False);
    int bad = 0;
    if (SLOT(owner, st_tape) == tape) {
        PyObject *next = new_tape(owner);
        bad = next == NULL;
        if (!bad)
            Py_SETREF(SLOT(owner, st_tape), next);
    }
    bad = bad || run_and_deliver(program, tape) < 0;
    PyObject *kind = NULL, *value = NULL, *trace = NULL;
    if (bad)
        PyErr_Fetch(&kind, &value, &trace);
    empty(SLOT(tape, tape_values));
    if (bad)
        PyErr_Restore(kind, value, trace);
    else {
        empty(SLOT(tape, tape_inputs));
        PyDict_Clear(SLOT(tape, tape_slots));
        if (SLOT(program, program_graph) != Py_True) {
            empty(SLOT(tape, tape_floats));
            empty(SLOT(tape, tape_ints));
        }
    }
    Py_DECREF(tape);
    Py_DECREF(program);
    return bad ? NULL : Py_NewRef(Py_True);
}
