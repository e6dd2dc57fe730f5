/* The commonest backward pass (simple.py). */

/* The backward pass of simple.py on the thread's open tape */

/* Whether one of these slots shows a storage that was written since. */
static int any_stale(PyObject *tape, PyObject *slots)
{
    PyObject *all = SLOT(tape, tape_seen), *inputs = SLOT(tape, tape_inputs);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        PyObject *slot = PyTuple_GET_ITEM(slots, i), *seen = PyDict_GetItemWithError(all, slot);
        for (int own = 0; own < 2; own++) {
            if (own) {
                Py_ssize_t k = PyLong_AsSsize_t(slot);
                seen = k < 0 ? SLOT(PyList_GET_ITEM(inputs, -k - 1), v_seen) : NULL;
            }
            if (IS_NONE(seen))
                continue;
            PyObject *now = SLOT(PyTuple_GET_ITEM(seen, 0), counter_n), *then = PyTuple_GET_ITEM(seen, 1);
            if (now != then && PyObject_RichCompareBool(now, then, Py_EQ) != 1)
                return 1;
        }
    }
    return 0;
}

/* The Leaf behind a gradient that leaves the tape, borrowed; NULL where it is no plain one. */
static PyObject *leaf_at(PyObject *tape, PyObject *slot)
{
    Py_ssize_t k = PyLong_AsSsize_t(slot);
    PyObject *leaf = k >= 0 ? PyDict_GetItemWithError(SLOT(tape, tape_leaves), slot) : SLOT(PyList_GET_ITEM(SLOT(tape, tape_inputs), -k - 1), v_leaf);
    return leaf != NULL && Py_TYPE(leaf) == Leaf && SLOT(leaf, leaf_off) == Py_False ? leaf : NULL;
}

static int accumulate(PyObject *leaf, PyObject *g) /* takes the reference to g, a Value */
{
    if (SLOT(leaf, leaf_grad) == Py_None) {
        PyObject *t = wrap(g);
        if (t == NULL)
            return -1;
        Py_SETREF(SLOT(leaf, leaf_grad), t);
        return 0;
    }
    PyObject *old = SLOT(leaf, leaf_grad), *ins[2] = {read_value(old), g}, *sum = NULL;
    if (ins[0] == NULL) {
        Py_DECREF(g);
        return -1;
    }
    if (IS_NONE(TENSOR(old)->view) && SLOT(ins[0], v_needs) != Py_True)
        sum = record_in(ADD, NOGRAD, ins, 2);
    Py_DECREF(ins[0]);
    if (sum != NULL) {
        int bad = write_value(old, sum);
        Py_DECREF(sum);
        Py_DECREF(g);
        return bad;
    }
    PyObject *r = PyErr_Occurred() ? NULL : PyObject_CallFunctionObjArgs(py_accumulate, leaf, g, NULL);
    Py_DECREF(g);
    Py_XDECREF(r);
    return r == NULL ? -1 : 0;
}

static int is_set(PyObject *flag) /* a list of one bool */
{
    return PyList_GET_ITEM(flag, 0) != Py_False;
}

/* The remembered pass from v, borrowed; NULL where it is not the common kind. */
static PyObject *known_pass(PyObject *st, PyObject *v)
{
    PyObject *tape = SLOT(v, v_tape);
    if (tape != SLOT(st, st_tape) || PyDict_GET_SIZE(SLOT(tape, tape_extra)) || PySet_GET_SIZE(SLOT(tape, tape_freed)) || is_set(watched) ||
        is_set(immediate) || PyDict_GET_SIZE(SLOT(tape, tape_contexts)))
        return NULL;
    PyObject *label = PyTuple_Pack(2, s_simple, SLOT(v, v_slot));
    if (label == NULL)
        return NULL;
    PyObject *known = PyDict_GetItemWithError(SLOT(SLOT(tape, tape_prefix), prefix_next), label);
    Py_DECREF(label);
    if (known == NULL || Py_TYPE(known) != Simple || any_stale(tape, SLOT(known, simple_checked)))
        return NULL;
    PyObject *arrivals = SLOT(known, simple_arrivals);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrivals); i++)
        if (leaf_at(tape, PyTuple_GET_ITEM(PyTuple_GET_ITEM(arrivals, i), 0)) == NULL)
            return NULL;
    return known;
}

/* The Values that a pass adds to the tape: the gradient that it starts from, and one for each arrival. */
static int append_gradients(PyObject *tape, PyObject *v, PyObject *known)
{
    PyObject *values = SLOT(tape, tape_values), *arrivals = SLOT(known, simple_arrivals);
    Py_ssize_t first = PyLong_AsSsize_t(SLOT(known, simple_first));
    for (Py_ssize_t i = -1; i < PyTuple_GET_SIZE(arrivals); i++) {
        PyObject *aval = i < 0 ? SLOT(v, v_aval) : PyTuple_GET_ITEM(PyTuple_GET_ITEM(arrivals, i), 1);
        PyObject *slot = PyLong_FromSsize_t(first + i);
        PyObject *g = slot == NULL ? NULL : new_value(aval, Py_False, tape, slot);
        Py_XDECREF(slot);
        if (g == NULL || PyList_Append(values, g) < 0) {
            Py_XDECREF(g);
            return -1;
        }
        Py_DECREF(g);
    }
    return 0;
}

/* backward(v): True if it was done. */
static PyObject *speed_backward(PyObject *module, PyObject *v)
{
    PyObject *st = state(), *out = NULL;
    int locked = st == NULL ? -1 : lock();
    if (locked < 0)
        return NULL;
    PyObject *known = known_pass(st, v);
    if (known == NULL) {
        unlock(locked);
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_False);
    }
    PyObject *tape = Py_NewRef(SLOT(v, v_tape)), *arrivals = SLOT(known, simple_arrivals);
    Py_ssize_t n = PyTuple_GET_SIZE(arrivals), k = 0, had = PyList_GET_SIZE(SLOT(tape, tape_values)) + 1;
    PyObject **pairs = PyMem_Malloc((2 * n + 1) * sizeof *pairs);
    Py_INCREF(known);
    if (pairs == NULL || append_gradients(tape, v, known) < 0)
        goto done;
    for (; k < n; k++) {
        pairs[2 * k] = Py_NewRef(leaf_at(tape, PyTuple_GET_ITEM(PyTuple_GET_ITEM(arrivals, k), 0)));
        pairs[2 * k + 1] = Py_NewRef(PyList_GET_ITEM(SLOT(tape, tape_values), had + k));
    }
    set_slot(tape, tape_prefix, SLOT(known, simple_prefix));
    PyObject *freed = PyNumber_InPlaceOr(SLOT(tape, tape_freed), SLOT(known, simple_saving));
    if (freed == NULL)
        goto done;
    Py_SETREF(SLOT(tape, tape_freed), freed);
    out = Py_NewRef(Py_True);
done:
    unlock(locked);
    for (Py_ssize_t i = 0; i < k; i++) {
        PyObject *leaf = pairs[2 * i], *g = pairs[2 * i + 1];
        if (out == NULL)
            Py_DECREF(g);
        else if (accumulate(leaf, g) < 0)
            Py_CLEAR(out);
        Py_DECREF(leaf);
    }
    PyMem_Free(pairs);
    Py_DECREF(known);
    Py_DECREF(tape);
    return out;
}
