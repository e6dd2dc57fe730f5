/* The commonest backward pass (simple.py). */

/* The backward pass of simple.py on the thread's open tape */

/* What a tape reads at a slot of its inputs, borrowed: an input while it is open, then what it keeps. */
static PyObject *input_at(PyObject *tape, PyObject *slot)
{
    if (SLOT(tape, tape_open) == Py_True)
        return PyList_GET_ITEM(SLOT(tape, tape_inputs), -PyLong_AsSsize_t(slot) - 1);
    return PyDict_GetItemWithError(SLOT(tape, tape_kept), slot);
}

/* Whether one of these slots shows a storage that was written since. */
static int any_stale(PyObject *tape, PyObject *slots)
{
    PyObject *all = SLOT(tape, tape_seen);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        PyObject *slot = PyTuple_GET_ITEM(slots, i), *seen = PyDict_GetItemWithError(all, slot);
        for (int own = 0; own < 2; own++) {
            if (own) {
                PyObject *v = PyLong_AsSsize_t(slot) < 0 || SLOT(tape, tape_open) != Py_True ? input_at(tape, slot) : NULL;
                seen = v == NULL ? NULL : SLOT(v, v_seen);
            }
            if (IS_NONE(seen))
                continue;
            if (Py_TYPE(PyTuple_GET_ITEM(seen, 0)) != Counter)
                return 1; /* the general way knows */
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
    PyObject *leaf;
    if (k >= 0)
        leaf = PyDict_GetItemWithError(SLOT(tape, tape_leaves), slot);
    else if (SLOT(tape, tape_open) == Py_True)
        leaf = SLOT(PyList_GET_ITEM(SLOT(tape, tape_inputs), -k - 1), v_leaf);
    else
        leaf = PyList_CheckExact(SLOT(tape, tape_edges)) ? PyList_GET_ITEM(SLOT(tape, tape_edges), -k - 1) : NULL;
    return leaf != NULL && Py_TYPE(leaf) == Leaf && SLOT(leaf, leaf_off) == Py_False ? leaf : NULL;
}

/* Add a gradient to a leaf's; takes the reference to g, a Value. */
static int add_to_leaf(PyObject *leaf, PyObject *g)
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
    if (Py_TYPE(old) == Tensor && IS_NONE(TENSOR(old)->view) && !truth(SLOT(ins[0], v_needs)) && writes_plainly(TENSOR(old)))
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

/* The same as one piece where there are other threads. */
static int accumulate(PyObject *leaf, PyObject *g)
{
    int locked = lock();
    if (locked < 0) {
        Py_DECREF(g);
        return -1;
    }
    int bad = add_to_leaf(leaf, g);
    unlock(locked);
    return bad;
}

/* Whether anybody looks at the gradient of a leaf on its way in (Leaf.observed). */
static int observed(PyObject *leaf)
{
    const Py_ssize_t where[] = {leaf_hooks, leaf_post, leaf_prehooks, leaf_posthooks};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        PyObject *hooks = SLOT(leaf, where[i]);
        if (!IS_NONE(hooks) && (!PyDict_Check(hooks) || PyDict_GET_SIZE(hooks)))
            return 1;
    }
    return 0;
}

static int is_set(PyObject *flag) /* a list of one bool */
{
    return PyList_GET_ITEM(flag, 0) != Py_False;
}

/* The remembered pass from v, borrowed; NULL where it is not the common kind. */
static PyObject *known_pass(PyObject *st, PyObject *v)
{
    PyObject *tape = SLOT(v, v_tape);
    int here = tape == SLOT(st, st_tape);
    if ((!here && SLOT(tape, tape_open) == Py_True) || PyDict_GET_SIZE(SLOT(tape, tape_extra)) || PySet_GET_SIZE(SLOT(tape, tape_freed)) || is_set(watched) ||
        is_set(immediate) || PyDict_GET_SIZE(SLOT(tape, tape_contexts)))
        return NULL;
    PyObject *label = PyTuple_Pack(2, s_simple, SLOT(v, v_slot));
    if (label == NULL)
        return NULL;
    PyObject *prefix = SLOT(tape, tape_prefix), *known = PyDict_GetItemWithError(here ? SLOT(prefix, prefix_next) : SLOT(prefix, prefix_memo), label);
    Py_DECREF(label);
    if (known == NULL || Py_TYPE(known) != Simple || any_stale(tape, SLOT(known, simple_checked)))
        return NULL;
    PyObject *arrivals = SLOT(known, simple_arrivals);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrivals); i++)
        if (leaf_at(tape, PyTuple_GET_ITEM(PyTuple_GET_ITEM(arrivals, i), 0)) == NULL)
            return NULL;
    return known;
}

/* simple._on_open: the gradients of the arrivals, a new list; the one that the pass starts from stands before them on the tape. */
static PyObject *pass_on_open(PyObject *tape, PyObject *v, PyObject *known)
{
    PyObject *values = SLOT(tape, tape_values), *arrivals = SLOT(known, simple_arrivals);
    Py_ssize_t first = PyLong_AsSsize_t(SLOT(known, simple_first)), n = PyTuple_GET_SIZE(arrivals);
    PyObject *made = PyList_New(n);
    for (Py_ssize_t i = -1; made != NULL && i < n; i++) {
        PyObject *aval = i < 0 ? SLOT(v, v_aval) : PyTuple_GET_ITEM(PyTuple_GET_ITEM(arrivals, i), 1);
        PyObject *slot = PyLong_FromSsize_t(first + i);
        PyObject *g = slot == NULL ? NULL : new_value(aval, Py_False, tape, slot);
        Py_XDECREF(slot);
        if (g == NULL || PyList_Append(values, g) < 0)
            Py_CLEAR(made);
        else if (i >= 0)
            PyList_SET_ITEM(made, i, Py_NewRef(g));
        Py_XDECREF(g);
    }
    if (made != NULL)
        set_slot(tape, tape_prefix, SLOT(known, simple_prefix));
    return made;
}

/* simple._on_closed: the same over a tape that has run, as one recorded stage. */
static PyObject *pass_over_closed(PyObject *tape, PyObject *known)
{
    PyObject *reads = SLOT(known, simple_reads), *numbers = SLOT(known, simple_numbers), *made = NULL;
    Py_ssize_t m = PyTuple_GET_SIZE(reads), n = 1 + m + PyTuple_GET_SIZE(numbers), k = 0;
    PyObject **ins = PyMem_Malloc(n * sizeof *ins), *one = ins == NULL ? PyErr_NoMemory() : record_all(SLOT(known, simple_ones), NOGRAD, NULL, 0);
    for (; one != NULL && k < n; k++) {
        if (k == 0)
            ins[k] = Py_NewRef(PyList_GET_ITEM(one, 0));
        else if (k <= m) {
            ins[k] = Py_XNewRef(PyDict_GetItemWithError(SLOT(tape, tape_kept), PyTuple_GET_ITEM(reads, k - 1)));
            PyObject *error = ins[k] != NULL || PyErr_Occurred() ? NULL : PyObject_CallNoArgs(py_second_time);
            if (error != NULL)
                PyErr_SetObject((PyObject *)Py_TYPE(error), error);
            Py_XDECREF(error);
        }
        else
            ins[k] = PyObject_CallFunctionObjArgs(py_number_at, tape, PyTuple_GET_ITEM(numbers, k - 1 - m), NULL);
        if (ins[k] == NULL)
            break;
    }
    if (k == n)
        made = record_all(SLOT(known, simple_form), NOGRAD, ins, n);
    while (k)
        Py_DECREF(ins[--k]);
    PyMem_Free(ins);
    Py_XDECREF(one);
    return made;
}

/* The nodes that a pass has run are released. */
static int release(PyObject *tape, PyObject *saving)
{
    PyObject *freed = PyNumber_InPlaceOr(SLOT(tape, tape_freed), saving), *r = NULL;
    if (freed == NULL)
        return -1;
    Py_SETREF(SLOT(tape, tape_freed), freed);
    if (SLOT(tape, tape_open) == Py_True)
        return 0;
    r = PyObject_CallOneArg(py_release_kept, tape);
    Py_XDECREF(r);
    return r == NULL ? -1 : 0;
}

/* backward(v): True if it was done. */
static PyObject *speed_backward(PyObject *module, PyObject *v)
{
    PyObject *st = state();
    int locked = st == NULL ? -1 : lock();
    if (locked < 0)
        return NULL;
    PyObject *known = Py_XNewRef(known_pass(st, v));
    if (known == NULL) {
        unlock(locked);
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_False);
    }
    PyObject *tape = Py_NewRef(SLOT(v, v_tape)), *arrivals = SLOT(known, simple_arrivals);
    Py_ssize_t n = PyTuple_GET_SIZE(arrivals);
    PyObject *leaves = PyList_New(n), *made = NULL;
    for (Py_ssize_t i = 0; leaves != NULL && i < n; i++)
        PyList_SET_ITEM(leaves, i, Py_NewRef(leaf_at(tape, PyTuple_GET_ITEM(PyTuple_GET_ITEM(arrivals, i), 0))));
    if (leaves != NULL)
        made = SLOT(tape, tape_open) == Py_True ? pass_on_open(tape, v, known) : pass_over_closed(tape, known);
    int bad = made == NULL || release(tape, SLOT(known, simple_saving)) < 0;
    unlock(locked);
    for (Py_ssize_t i = 0; !bad && i < n; i++)
        bad = accumulate(PyList_GET_ITEM(leaves, i), Py_NewRef(PyList_GET_ITEM(made, i))) < 0;
    Py_XDECREF(leaves);
    Py_XDECREF(made);
    Py_DECREF(known);
    Py_DECREF(tape);
    return bad ? NULL : Py_NewRef(Py_True);
}

/* A stage recorded call by call, for create_graph (plan.Stage.run as backward.run_stage calls it) */

/* backward.value_at, new */
static PyObject *value_at(PyObject *tape, PyObject *slot)
{
    if (SLOT(tape, tape_open) != Py_True)
        return PyObject_CallFunctionObjArgs(py_value_at, tape, slot, NULL);
    Py_ssize_t k = PyLong_AsSsize_t(slot);
    PyObject *all = k < 0 ? SLOT(tape, tape_inputs) : SLOT(tape, tape_values);
    return Py_NewRef(PyList_GET_ITEM(all, k < 0 ? -k - 1 : k));
}

/* The gradients of a pullback's wanted inputs, new: what it passes on unchanged keeps its own place in the graph (backward._record_pull). */
static PyObject *pull(PyObject *form, PyObject **ins, Py_ssize_t n)
{
    PyObject *passes = SLOT(form, pull_passes);
    if (passes == NULL || PyTuple_GET_SIZE(passes) == 0)
        return record_all(form, ONE, ins, n);
    Py_ssize_t m = PyTuple_GET_SIZE(passes);
    PyObject *made = NULL, *out;
    for (Py_ssize_t i = 0; i < m && made == NULL; i++)
        if (PyTuple_GET_ITEM(passes, i) == Py_None && (made = record_all(form, ONE, ins, n)) == NULL)
            return NULL;
    out = PyList_New(m);
    for (Py_ssize_t i = 0; out != NULL && i < m; i++) {
        PyObject *from = PyTuple_GET_ITEM(passes, i);
        PyList_SET_ITEM(out, i, Py_NewRef(from == Py_None ? PyList_GET_ITEM(made, i) : ins[PyLong_AsSsize_t(from)]));
    }
    Py_XDECREF(made);
    return out;
}

/* grads[slot] += g */
static int add_gradient(PyObject *grads, PyObject *slot, PyObject *g)
{
    PyObject *old = PyDict_GetItemWithError(grads, slot);
    if (old == NULL)
        return PyErr_Occurred() ? -1 : PyDict_SetItem(grads, slot, g);
    PyObject *ins[2] = {old, g}, *sum = record_all(ADD, ONE, ins, 2);
    int bad = sum == NULL || PyDict_SetItem(grads, slot, PyList_GET_ITEM(sum, 0)) < 0;
    Py_XDECREF(sum);
    return bad ? -1 : 0;
}

/* One step of the stage. */
static int run_visit(PyObject *visit, PyObject *tape, PyObject *grads)
{
    PyObject *step = SLOT(visit, visit_step), *form = SLOT(visit, visit_pull), *given = SLOT(visit, visit_given), *wanted = SLOT(visit, visit_wanted);
    PyObject *keep = SLOT(form, pull_keep), *places = SLOT(step, step_ins), *out = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(given), m = PyTuple_GET_SIZE(keep), first = PyLong_AsSsize_t(SLOT(step, step_first)), k = 0;
    PyObject **ins = PyMem_Malloc((n + m + 1) * sizeof *ins);
    if (ins == NULL)
        return -1;
    for (; k < n + m; k++) {
        if (k < n) {
            PyObject *slot = PyLong_FromSsize_t(first + PyLong_AsSsize_t(PyTuple_GET_ITEM(given, k)));
            ins[k] = slot == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(grads, slot));
            if (ins[k] == NULL && slot != NULL && !PyErr_Occurred())
                PyErr_SetObject(PyExc_KeyError, slot);
            Py_XDECREF(slot);
        }
        else {
            PyObject *place = PyTuple_GET_ITEM(places, PyLong_AsSsize_t(PyTuple_GET_ITEM(keep, k - n)));
            ins[k] = PyTuple_CheckExact(place) ? PyObject_CallFunctionObjArgs(py_number_at, tape, place, NULL) : value_at(tape, place);
        }
        if (ins[k] == NULL)
            break;
    }
    if (k == n + m)
        out = pull(form, ins, n + m);
    while (k)
        Py_DECREF(ins[--k]);
    PyMem_Free(ins);
    int bad = out == NULL;
    for (Py_ssize_t i = 0; !bad && i < PyTuple_GET_SIZE(wanted) && i < PyList_GET_SIZE(out); i++)
        bad = add_gradient(grads, PyTuple_GET_ITEM(places, PyLong_AsSsize_t(PyTuple_GET_ITEM(wanted, i))), PyList_GET_ITEM(out, i)) < 0;
    Py_XDECREF(out);
    return bad ? -1 : 0;
}

/* run_stage(stage, tape, cots): the gradients that leave the stage, with a graph of their own. */
static PyObject *speed_run_stage(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *stage = args[0], *tape = args[1], *cots = args[2], *slots = SLOT(stage, stage_cots), *outs = SLOT(stage, stage_outs);
    PyObject *visits = SLOT(stage, stage_visits), *grads = PyDict_New(), *out = NULL;
    int bad = grads == NULL;
    for (Py_ssize_t i = 0; !bad && i < PyTuple_GET_SIZE(slots); i++)
        bad = PyDict_SetItem(grads, PyTuple_GET_ITEM(slots, i), PyList_GET_ITEM(cots, i)) < 0;
    for (Py_ssize_t i = 0; !bad && i < PyList_GET_SIZE(visits); i++)
        bad = run_visit(PyList_GET_ITEM(visits, i), tape, grads) < 0;
    if (!bad && (out = PyList_New(PyTuple_GET_SIZE(outs))) != NULL)
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outs); i++) {
            PyObject *g = PyDict_GetItemWithError(grads, PyTuple_GET_ITEM(outs, i));
            if (g == NULL) {
                if (!PyErr_Occurred())
                    PyErr_SetObject(PyExc_KeyError, PyTuple_GET_ITEM(outs, i));
                Py_CLEAR(out);
                break;
            }
            PyList_SET_ITEM(out, i, Py_NewRef(g));
        }
    Py_XDECREF(grads);
    return out;
}

/* accumulate(leaf, g) */
static PyObject *speed_accumulate(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return accumulate(args[0], Py_NewRef(args[1])) < 0 ? NULL : Py_NewRef(Py_None);
}

/* record_stage(tape, label): a stage that was recorded here before, as a list of gradients; None where it was not (backward._record_stage). */
static PyObject *speed_record_stage(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *tape = args[0], *edge = PyDict_GetItemWithError(SLOT(SLOT(tape, tape_prefix), prefix_next), args[1]);
    if (edge == NULL)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    Py_INCREF(edge);
    set_slot(tape, tape_prefix, edge);
    PyObject *out = results_of(tape, edge);
    Py_DECREF(edge);
    return out;
}
