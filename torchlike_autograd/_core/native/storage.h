/* Versions, views and writes (storage.py, hot.py). */

/* Versions */

static PyObject *new_counter(void)
{
    PyObject *c = Counter->tp_alloc(Counter, 0);
    if (c != NULL) {
        SLOT(c, counter_n) = Py_NewRef(ZERO);
        SLOT(c, counter_writer) = Py_NewRef(Py_None);
    }
    return c;
}

static int increment(PyObject *p, Py_ssize_t offset)
{
    PyObject *n = PyNumber_Add(SLOT(p, offset), ONE);
    if (n == NULL)
        return -1;
    Py_SETREF(SLOT(p, offset), n);
    return 0;
}

static int mark_seen(PyObject *v, PyObject *counter)
{
    PyObject *seen = PyTuple_Pack(2, counter, SLOT(counter, counter_n));
    if (seen == NULL)
        return -1;
    set_slot(v, v_seen, seen);
    PyObject *tape = SLOT(v, v_tape);
    int bad = tape != Py_None && PyDict_SetItem(SLOT(tape, tape_seen), SLOT(v, v_slot), seen) < 0;
    Py_DECREF(seen);
    return bad ? -1 : 0;
}

/* Whether a tensor's memory was made outside of inference mode: its counter is, or will be, a plain one. */
static int counts_plainly(State *t)
{
    return IS_NONE(t->counter) ? PyBool_Check(SLOT(t->v, v_needs)) : Py_TYPE(t->counter) == Counter;
}

/* The same for a write, which the memory of a shared cell has to be told of (sharing.py). */
static int writes_plainly(State *t)
{
    return (IS_NONE(t->cell) || Py_TYPE(t->cell) == Cell) && counts_plainly(t);
}

/* The counter of a tensor, made now if it has none; borrowed. */
static PyObject *counter_of(State *t)
{
    if (IS_NONE(t->counter)) {
        PyObject *c = new_counter();
        if (c == NULL)
            return NULL;
        Py_XSETREF(t->counter, c);
    }
    return t->counter;
}

/* The cell of a tensor, made now if it was alone; borrowed. */
static PyObject *cell_of(State *t)
{
    if (!IS_NONE(t->cell))
        return t->cell;
    PyObject *counter = counter_of(t);
    PyObject *cell = counter == NULL ? NULL : Cell->tp_alloc(Cell, 0);
    if (cell == NULL)
        return NULL;
    SLOT(cell, cell_value) = Py_NewRef(t->v);
    SLOT(cell, cell_counter) = Py_NewRef(counter);
    SLOT(cell, cell_layout) = Py_NewRef(t->layout == NULL ? Py_None : t->layout);
    SLOT(cell, cell_n) = Py_NewRef(ZERO);
    Py_XSETREF(t->cell, cell);
    set_field(&t->at, ZERO);
    if (SLOT(t->v, v_seen) == Py_None && mark_seen(t->v, counter) < 0)
        return NULL;
    return cell;
}

/* Views */

static PyObject *extended_chain(PyObject *old, PyObject *link, PyObject *numbers)
{
    PyObject *pair = PyTuple_Pack(2, link, numbers);
    if (pair == NULL)
        return NULL;
    Py_ssize_t n = old == NULL ? 0 : PyTuple_GET_SIZE(old);
    PyObject *chain = PyTuple_New(n + 1);
    if (chain == NULL) {
        Py_DECREF(pair);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        PyTuple_SET_ITEM(chain, i, Py_NewRef(PyTuple_GET_ITEM(old, i)));
    PyTuple_SET_ITEM(chain, n, pair);
    return chain;
}

/* old: the View that the source has, or NULL. */
static PyObject *new_view(PyObject *base, PyObject *chain, PyObject *creation, PyObject *under, PyObject *old, PyObject *link)
{
    PyObject *view = View->tp_alloc(View, 0);
    if (view != NULL) {
        SLOT(view, view_base) = Py_NewRef(base);
        SLOT(view, view_chain) = Py_NewRef(chain);
        SLOT(view, view_creation) = Py_NewRef(creation);
        SLOT(view, view_under) = Py_NewRef(under);
        SLOT(view, view_geometry) = Py_NewRef(Py_None);
        int bent = (old != NULL && SLOT(old, view_bent) == Py_True) || (PyObject_TypeCheck(link, Spec) && SLOT(link, spec_bends) == Py_True);
        SLOT(view, view_bent) = Py_NewRef(bent ? Py_True : Py_False);
    }
    return view;
}

/* hot.make_view for a view made in the thread's own mode; takes the reference to v.  as: "multi", or NULL for what the mode says. */
static PyObject *make_view(PyObject *source, PyObject *link, PyObject *numbers, PyObject *v, PyObject *as)
{
    State *s = TENSOR(source);
    PyObject *st = state(), *t = NULL, *chain = NULL, *view = NULL;
    PyObject *cell = st == NULL ? NULL : cell_of(s);
    if (cell == NULL)
        goto fail;
    int grad = SLOT(st, st_grad) == Py_True;
    PyObject *creation = as != NULL ? as : grad ? s_default : s_no_grad, *base, *under;
    if (IS_NONE(s->view)) {
        chain = extended_chain(NULL, link, numbers);
        base = source, under = Py_None;
    }
    else {
        chain = extended_chain(SLOT(s->view, view_chain), link, numbers);
        base = SLOT(s->view, view_base);
        if (base == Py_None)
            base = source, under = s->view;
        else {
            under = SLOT(s->view, view_under);
            PyObject *own = SLOT(s->view, view_creation);
            if ((grad && as == NULL) || PyUnicode_CompareWithASCIIString(own, "inference") == 0)
                creation = own;
        }
    }
    if (chain == NULL)
        goto fail;
    view = new_view(base, chain, creation, under, IS_NONE(s->view) ? NULL : s->view, link);
    t = view == NULL ? NULL : Tensor->tp_alloc(Tensor, 0);
    if (t == NULL)
        goto fail;
    Py_DECREF(chain);
    TENSOR(t)->v = v;
    TENSOR(t)->view = view;
    TENSOR(t)->cell = Py_NewRef(cell);
    TENSOR(t)->at = Py_NewRef(SLOT(cell, cell_n));
    TENSOR(t)->counter = Py_NewRef(s->counter);
    if (mark_seen(v, s->counter) < 0) {
        Py_DECREF(t);
        return NULL;
    }
    if (!grad && !truth(SLOT(v, v_needs)) && truth(SLOT(TENSOR(base)->v, v_needs))) {
        PyObject *r = PyObject_CallOneArg(py_lead_nowhere, t);
        if (r == NULL) {
            Py_DECREF(t);
            return NULL;
        }
        Py_DECREF(r);
    }
    return t;
fail:
    Py_XDECREF(chain);
    Py_XDECREF(view);
    Py_DECREF(v);
    return NULL;
}

/* hot.view: a view by an operator with one result, with one number at most (NULL: none). */
static PyObject *view_by(PyObject *spec, PyObject *source, PyObject *number)
{
    PyObject *st = state();
    if (st == NULL)
        return NULL;
    if (PySet_GET_SIZE(REPLAY) || !PyBool_Check(SLOT(st, st_grad)) || !counts_plainly(TENSOR(source)))
        return PyObject_CallFunctionObjArgs(py_view, spec, source, number, NULL);
    PyObject *v, *numbers;
    if (number == NULL) {
        PyObject *in = read_value(source);
        if (in == NULL)
            return NULL;
        v = record(spec, &in, 1);
        Py_DECREF(in);
        numbers = Py_NewRef(no_numbers);
    }
    else {
        v = numbered(spec, source, number);
        numbers = PyTuple_Pack(1, number);
    }
    PyObject *out = NULL;
    if (v != NULL && numbers != NULL)
        out = make_view(source, spec, numbers, v, NULL);
    else
        Py_XDECREF(v);
    Py_XDECREF(numbers);
    return out;
}

/* views(spec, source, creation): all results of a view operator of one tensor without numbers (dispatch._views); None where it has to go the general way. */
static PyObject *speed_views(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *spec = args[0], *source = args[1], *as = args[2] == Py_None ? NULL : args[2], *st = state(), *links = SLOT(spec, spec_links);
    if (st == NULL)
        return NULL;
    if (!PyObject_TypeCheck(source, Tensor) || links == NULL || PySet_GET_SIZE(REPLAY) || !PyBool_Check(SLOT(st, st_grad)) || !counts_plainly(TENSOR(source)))
        return Py_NewRef(Py_None);
    PyObject *in = read_value(source), *made = in == NULL ? NULL : record_all(spec, NULL, &in, 1), *out = NULL;
    Py_XDECREF(in);
    Py_ssize_t n = made == NULL ? 0 : PyList_GET_SIZE(made);
    links = Py_NewRef(SLOT(spec, spec_links)); /* those of now: whoever hears of the call may have called the operator, which makes more of them */
    if (made != NULL && PyTuple_GET_SIZE(links) < n) {
        Py_DECREF(links);
        links = PyObject_CallFunction(py_links, "On", spec, n);
    }
    if (made != NULL && links != NULL)
        out = PyTuple_New(n);
    for (Py_ssize_t i = 0; out != NULL && i < n; i++) {
        PyObject *t = make_view(source, PyTuple_GET_ITEM(links, i), no_numbers, Py_NewRef(PyList_GET_ITEM(made, i)), as);
        if (t == NULL)
            Py_CLEAR(out);
        else
            PyTuple_SET_ITEM(out, i, t);
    }
    Py_XDECREF(links);
    Py_XDECREF(made);
    return out;
}

/* Writing */

/* storage._follow: a tensor that retains its gradient goes on doing so; messages name the last writer. */
static int follow_history(PyObject *old, PyObject *new, PyObject *counter)
{
    PyObject *writer = PyWeakref_NewRef(new, NULL);
    if (writer == NULL)
        return -1;
    Py_SETREF(SLOT(counter, counter_writer), writer);
    PyObject *tape = SLOT(old, v_tape);
    if (tape == Py_None || PyDict_GET_SIZE(SLOT(tape, tape_extra)) == 0 || SLOT(new, v_leaf) != Py_None)
        return 0;
    PyObject *r = PyObject_CallFunctionObjArgs(py_follow, old, new, counter, NULL);
    Py_XDECREF(r);
    return r == NULL ? -1 : 0;
}

/* storage.write for a tensor that is no view: `new` becomes its contents. */
static int write_value(PyObject *t, PyObject *new)
{
    State *s = TENSOR(t);
    PyObject *old = s->v, *counter;
    if (IS_NONE(s->cell)) {
        counter = counter_of(s);
        if (counter == NULL || (SLOT(old, v_seen) == Py_None && mark_seen(old, counter) < 0))
            return -1;
        if (increment(counter, counter_n) < 0 || mark_seen(new, counter) < 0)
            return -1;
        Py_INCREF(old);
        set_field(&s->v, new);
        int bad = truth(SLOT(new, v_needs)) && truth(SLOT(old, v_needs)) && follow_history(old, new, counter) < 0;
        Py_DECREF(old);
        return bad ? -1 : 0;
    }
    counter = s->counter;
    if (truth(SLOT(new, v_needs)) && follow_history(old, new, counter) < 0)
        return -1;
    set_slot(s->cell, cell_value, new);
    if (increment(s->cell, cell_n) < 0 || increment(counter, counter_n) < 0)
        return -1;
    set_field(&s->v, new);
    set_field(&s->at, SLOT(s->cell, cell_n));
    return mark_seen(new, counter);
}

/* write(t, new) */
static PyObject *speed_write(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2 || !IS_NONE(TENSOR(args[0])->view) || !writes_plainly(TENSOR(args[0])))
        return PyObject_Vectorcall(py_write, args, nargs, NULL);
    return write_value(args[0], args[1]) < 0 ? NULL : Py_NewRef(Py_None);
}

/* Whether no argument of a write shows the memory of its target, so that nothing is left to refuse but types (repeats.check_twin). */
static int apart(PyObject **flat, int n)
{
    for (int k = 1; k < n; k++)
        if (PyObject_TypeCheck(flat[k], Tensor) && (flat[k] == flat[0] || !IS_NONE(TENSOR(flat[k])->cell)))
            return 0;
    return 1;
}

/* hot.twin: the flat inputs `flat` of a `_` twin of flat[0], followed where the edge is remembered, or new and plain, and the result has the target's type;
   under the lock from the reading to the writing, so that what another thread writes is not lost.  NULL without an error where the general way has to go. */
static PyObject *twin(PyObject *spec, PyObject **flat, int n)
{
    PyObject *t = flat[0], *ins[MOST], *out = NULL, *edge = NULL, *new = NULL, *tape = NULL;
    if (!IS_NONE(TENSOR(t)->view) || n > MOST || !writes_plainly(TENSOR(t)))
        return NULL;
    PyObject *st = state();
    int k = 0, locked = st == NULL ? -1 : lock();
    if (locked < 0)
        return NULL;
    for (; k < n; k++) {
        ins[k] = PyObject_TypeCheck(flat[k], Tensor) ? read_value(flat[k]) : Py_NewRef(flat[k]);
        if (ins[k] == NULL)
            break;
    }
    if (k < n)
        goto done;
    PyObject *old = ins[0];
    int grad = SLOT(st, st_grad) == Py_True, needs = truth(SLOT(old, v_needs));
    PyObject *leaf = needs ? SLOT(old, v_leaf) : Py_None;
    if (needs && (leaf == Py_None) != grad)
        goto done;
    PyObject *mode = leaf != Py_None ? LEAF : grad ? INPLACE : NOGRAD;
    tape = tape_for(st, spec, mode, ins, n);
    edge = tape == NULL ? NULL : follow_any(st, tape, spec, mode, ins, n, old, 0, apart(flat, n));
    if (edge != NULL)
        new = result_of(tape, edge);
    if (new != NULL && leaf != Py_None) {
        set_slot(new, v_leaf, leaf);
        if (PyDict_SetItem(SLOT(tape, tape_leaves), SLOT(new, v_slot), leaf) < 0)
            Py_CLEAR(new);
    }
    if (new != NULL && write_value(t, new) == 0)
        out = Py_NewRef(t);
done:
    unlock(locked);
    while (k)
        Py_DECREF(ins[--k]);
    Py_XDECREF(tape);
    Py_XDECREF(edge);
    Py_XDECREF(new);
    return out;
}
