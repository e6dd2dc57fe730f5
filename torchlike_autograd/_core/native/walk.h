/* A pass with hooks over an open tape (walk.Walk), and what it leaves behind. */

/* Record a stage on the tape whose program it reads, and move its gradients (backward._record_stage); 0 where it was not recorded here before. */
static int walk_stage(PyObject *tape, PyObject *stage, PyObject *grads)
{
    if (SLOT(stage, stage_looks) != Py_False)
        return 0;
    PyObject *cots = SLOT(stage, stage_cots), *outs = SLOT(stage, stage_outs), *edge = NULL, *made = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(cots);
    PyObject *label = PyTuple_New(n + 1);
    if (label == NULL)
        return -1;
    PyTuple_SET_ITEM(label, 0, Py_NewRef(stage));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *g = PyDict_GetItemWithError(grads, PyTuple_GET_ITEM(cots, i)), *slot = g == NULL || g == Py_None ? NULL : slot_on(tape, g);
        if (slot == NULL) {
            Py_DECREF(label);
            return PyErr_Occurred() ? -1 : 0;
        }
        PyTuple_SET_ITEM(label, i + 1, Py_NewRef(slot));
    }
    edge = Py_XNewRef(PyDict_GetItemWithError(SLOT(SLOT(tape, tape_prefix), prefix_next), label));
    Py_DECREF(label);
    if (edge == NULL)
        return PyErr_Occurred() ? -1 : 0;
    set_slot(tape, tape_prefix, edge);
    made = results_of(tape, edge);
    Py_DECREF(edge);
    int bad = made == NULL;
    for (Py_ssize_t i = 0; !bad && i < n; i++)
        bad = PyDict_DelItem(grads, PyTuple_GET_ITEM(cots, i)) < 0;
    for (Py_ssize_t i = 0; !bad && i < PyTuple_GET_SIZE(outs); i++)
        bad = PyDict_SetItem(grads, PyTuple_GET_ITEM(outs, i), PyList_GET_ITEM(made, i)) < 0;
    Py_XDECREF(made);
    return bad ? -1 : 1;
}

/* What one tensor hook makes of a gradient, whose reference is taken, new (hooks.run_hooks). */
static PyObject *hooked(PyObject *hook, PyObject *g)
{
    PyObject *t = wrap(Py_NewRef(g)), *result = t == NULL ? NULL : PyObject_CallOneArg(hook, t), *v = NULL;
    if (result == Py_None)
        v = read_value(t); /* the hook may have written to it */
    else if (result != NULL) {
        if (Py_TYPE(result) == Tensor && (v = read_value(result)) != NULL && SLOT(v, v_aval) != SLOT(g, v_aval))
            Py_CLEAR(v);
        if (v == NULL && !PyErr_Occurred())
            v = PyObject_CallFunctionObjArgs(py_checked, result, g, hook, NULL);
    }
    Py_XDECREF(result);
    Py_XDECREF(t);
    Py_DECREF(g);
    return v;
}

/* The gradient after all hooks of a slot; its reference is taken. */
static PyObject *after_hooks(PyObject *hooks, PyObject *g)
{
    PyObject *all = PyMapping_Values(hooks);
    if (all == NULL)
        Py_CLEAR(g);
    for (Py_ssize_t i = 0; g != NULL && i < PyList_GET_SIZE(all); i++)
        g = hooked(PyList_GET_ITEM(all, i), g);
    Py_XDECREF(all);
    return g;
}

/* Fill `.grad` of the tensor behind a weak reference (hooks.retain). */
static int retain(PyObject *ref, PyObject *g, PyObject *pass)
{
    PyObject *t = target_of(ref), *leaf = t == NULL ? NULL : TENSOR(t)->leaf;
    int bad = t == NULL && PyErr_Occurred() != NULL;
    if (leaf != NULL && Py_TYPE(leaf) == Leaf && SLOT(leaf, leaf_grad) == Py_None) {
        PyObject *kept = wrap(Py_NewRef(g));
        bad = kept == NULL;
        if (kept != NULL)
            Py_SETREF(SLOT(leaf, leaf_grad), kept);
    }
    else if (t != NULL) {
        PyObject *r = PyObject_CallFunctionObjArgs(py_retain, t, g, pass, NULL);
        bad = r == NULL;
        Py_XDECREF(r);
    }
    Py_XDECREF(t);
    return bad ? -1 : 0;
}

/* Whether each of these ends is a plain leaf, and none of them the same as another. */
static int different_leaves(PyObject *tape, PyObject *ends)
{
    PyObject *leaves = PySet_New(NULL);
    int plain = leaves == NULL ? -1 : 1;
    for (Py_ssize_t i = 0; plain == 1 && i < PyTuple_GET_SIZE(ends); i++) {
        PyObject *leaf = leaf_at(tape, PyTuple_GET_ITEM(ends, i));
        plain = leaf == NULL ? (PyErr_Occurred() ? -1 : 0) : PySet_Add(leaves, leaf) < 0 ? -1 : 1;
    }
    if (plain == 1)
        plain = PySet_GET_SIZE(leaves) == PyTuple_GET_SIZE(ends);
    Py_XDECREF(leaves);
    return plain;
}

/* Hooks and retained gradients of the outputs of a step that the next stage runs (the first half of backward.run_watched); 0 where Python has to: a gradient is undefined,
   or several outputs have hooks. */
static int look_at(PyObject *pass, PyObject *tape, PyObject *item, PyObject *grads)
{
    PyObject *step = PyTuple_GET_ITEM(item, 1), *given = PyTuple_GET_ITEM(item, 3), *first = SLOT(step, step_first);
    if (PyTuple_GET_SIZE(given) != PyTuple_GET_SIZE(SLOT(step, step_out_avals)))
        return 0;
    PyObject *seen = Py_XNewRef(PyDict_GetItemWithError(SLOT(tape, tape_extra), first));
    if (seen == NULL)
        return PyErr_Occurred() ? -1 : 0;
    if (PyDict_Check(SLOT(seen, seen_hooks)) && PyDict_GET_SIZE(SLOT(seen, seen_hooks)) > 1) { /* several outputs have hooks: hooks.py knows their order */
        Py_DECREF(seen);
        return 0;
    }
    int bad = 0;
    for (Py_ssize_t i = 0; !bad && i < PyTuple_GET_SIZE(given); i++) {
        PyObject *slot = PyLong_FromSsize_t(PyLong_AsSsize_t(first) + i), *g = slot == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(grads, slot));
        PyObject *hooks = g == NULL ? NULL : PyDict_GetItemWithError(SLOT(seen, seen_hooks), slot);
        if (hooks != NULL && PyDict_Check(hooks) && PyDict_GET_SIZE(hooks))
            g = after_hooks(hooks, g);
        PyObject *ref = g == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(SLOT(seen, seen_retain), slot));
        bad = g == NULL || (ref != NULL && retain(ref, g, pass) < 0) || PyDict_SetItem(grads, slot, g) < 0;
        Py_XDECREF(ref);
        Py_XDECREF(g);
        Py_XDECREF(slot);
    }
    Py_DECREF(seen);
    return bad ? -1 : 1;
}

/* Accumulate the leaves at slots to which nothing more comes (leaving.settle); 0 where Python has to: somebody watches leaves, or a gradient has a graph.
   ends: see leaving.settled_plainly; *plain: whether they are as many leaves, -1 where it was not asked before. */
static int settle(PyObject *tape, PyObject *slots, PyObject *grads, PyObject *ends, int *plain)
{
    int known = PyAnySet_Check(ends);
    if (*plain < 0 && (*plain = known ? 1 : different_leaves(tape, ends)) < 0)
        return -1;
    for (Py_ssize_t i = 0; *plain && i < PyTuple_GET_SIZE(slots); i++) {
        PyObject *slot = PyTuple_GET_ITEM(slots, i), *g = PyDict_GetItemWithError(grads, slot), *leaf = IS_NONE(g) ? NULL : leaf_at(tape, slot);
        if (g == NULL && PyErr_Occurred())
            return -1;
        if (IS_NONE(g))
            continue;
        int mine = known ? PySet_Contains(ends, slot) : 1;
        if (mine < 0)
            return -1;
        if (!mine || leaf == NULL || observed(leaf) || truth(SLOT(g, v_needs)))
            return 0;
        Py_INCREF(g);
        if (PyDict_DelItem(grads, slot) < 0) {
            Py_DECREF(g);
            return -1;
        }
        if (accumulate(leaf, g) < 0)
            return -1;
    }
    return *plain;
}

/* Whether what one of these nodes keeps was let go of. */
static int any_freed(PyObject *tape, PyObject *firsts)
{
    PyObject *freed = SLOT(tape, tape_freed);
    for (Py_ssize_t i = 0; PySet_GET_SIZE(freed) && i < PyTuple_GET_SIZE(firsts); i++)
        if (PySet_Contains(freed, PyTuple_GET_ITEM(firsts, i)))
            return 1; /* the general way knows */
    return 0;
}

/* Whether a hook left modes of its thread changed that a pass puts back (hooks.put_back). */
static int left_modes(PyObject *st, PyObject *const *modes)
{
    return SLOT(st, st_grad) != modes[0] || SLOT(st, st_inference) != modes[1] || SLOT(st, st_saved_hooks) != modes[2] ||
           PyDict_GetItemWithError(SLOT(st, st_extra), s_casts) != modes[3];
}

/* walk(pass, tape, items, start, grads, changes, ends): the number of the item that is next, after those from start on were run, in grads; -1 - n where somebody
   registered or removed a hook while item n was looked at.  It ends too where a hook left modes changed, which Python puts back.
   For a pass that accumulates without a graph, levels or anomaly mode, over this thread's open tape.  ends: see leaving.settled_plainly. */
static PyObject *speed_walk(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *pass = args[0], *tape = args[1], *items = args[2], *grads = args[4], *changes = args[5], *ends = args[6], *st = state();
    PyObject *seen = st == NULL ? NULL : Py_NewRef(PyList_GET_ITEM(changes, 0));
    Py_ssize_t n = PyList_GET_SIZE(items), k = PyLong_AsSsize_t(args[3]);
    PyObject *modes[4] = {NULL};
    if (st != NULL) { /* only compared, never read */
        modes[0] = SLOT(st, st_grad), modes[1] = SLOT(st, st_inference), modes[2] = SLOT(st, st_saved_hooks);
        modes[3] = PyDict_GetItemWithError(SLOT(st, st_extra), s_casts);
    }
    int done = seen == NULL ? -1 : 1, changed = 0, plain = PyObject_Size(ends) > 0 ? -1 : 0;
    for (; done == 1 && k < n; k++) {
        PyObject *item = PyList_GET_ITEM(items, k);
        if (SLOT(tape, tape_open) != Py_True || SLOT(st, st_anomaly) != Py_None)
            break;
        if (Py_TYPE(item) == Stage) {
            int locked = lock();
            done = locked < 0 ? -1 : SLOT(tape, tape_open) != Py_True ? 0 : walk_stage(tape, item, grads); /* still open: other threads may run it */
            unlock(locked);
        }
        else if (PyTuple_CheckExact(item) && PyTuple_GET_ITEM(item, 0) == s_gradient) {
            done = look_at(pass, tape, item, grads);
            PyObject *now = PyList_GET_ITEM(changes, 0);
            changed = done == 1 && now != seen && PyObject_RichCompareBool(now, seen, Py_EQ) != 1;
            if (changed)
                break;
            if (done == 1 && left_modes(st, modes)) {
                k++;
                break;
            }
        }
        else if (PyTuple_CheckExact(item) && PyTuple_GET_ITEM(item, 0) == s_ready)
            done = settle(tape, PyTuple_GET_ITEM(item, 1), grads, ends, &plain);
        else if (PyTuple_CheckExact(item) && PyTuple_GET_ITEM(item, 0) == s_check)
            done = any_freed(tape, PyTuple_GET_ITEM(item, 3)) ? 0 : !any_stale(tape, PyTuple_GET_ITEM(item, 2));
        else
            break;
        if (done == 0)
            break;
    }
    Py_XDECREF(seen);
    return done < 0 ? NULL : PyLong_FromSsize_t(changed ? -1 - k : k);
}

/* leave(tape, grads, arrived): note the gradients that leave an open tape, if all are first ones of plain leaves (leaving.leave); whether it was done. */
static PyObject *speed_leave(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *tape = args[0], *grads = args[1], *arrived = args[2], *slot, *g;
    Py_ssize_t at = 0;
    if (SLOT(tape, tape_open) != Py_True || PyDict_GET_SIZE(arrived))
        return Py_NewRef(Py_False);
    while (PyDict_Next(grads, &at, &slot, &g)) {
        PyObject *leaf = g == Py_None ? NULL : leaf_at(tape, slot);
        int again = leaf == NULL ? 1 : PyDict_Contains(arrived, leaf);
        if (again == 0 && PyDict_SetItem(arrived, leaf, g) < 0)
            return NULL;
        if (again) {
            PyDict_Clear(arrived);
            return PyErr_Occurred() ? NULL : Py_NewRef(Py_False);
        }
    }
    return Py_NewRef(Py_True);
}

/* finish(arrived): accumulate what has arrived at leaves that nobody watches, in order (leaving.finish_leaf). */
static PyObject *speed_finish(PyObject *module, PyObject *arrived)
{
    PyObject *leaf, *g;
    for (Py_ssize_t at = 0; PyDict_Next(arrived, &at, &leaf, &g); at = 0) {
        if (Py_TYPE(leaf) != Leaf || SLOT(leaf, leaf_off) != Py_False || observed(leaf))
            break;
        Py_INCREF(leaf);
        Py_INCREF(g);
        int bad = PyDict_DelItem(arrived, leaf) < 0;
        if (bad)
            Py_DECREF(g);
        bad = bad || accumulate(leaf, g) < 0;
        Py_DECREF(leaf);
        if (bad)
            return NULL;
    }
    Py_RETURN_NONE;
}
