/* Calls that were recorded before, followed in C (layer 6).

   This file decides nothing.  It holds the same shortcuts as _core/hot.py, _core/bind.py and _core/execute.py, over the same Python objects, whose
   slots it reads by offset; where there is no remembered edge it calls the general way in Python.  The package is complete without it.

   `v` is a Value, `t` a Tensor, `st` the thread's ThreadState; "borrowed" and "new" say who owns a reference. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <stddef.h>

#ifndef SOURCE
#define SOURCE "unknown"
#endif

/* State: the fields of a Tensor; an unset field reads as None. */

typedef struct {
    PyObject_HEAD
    PyObject *v, *cell, *at, *view, *counter, *leaf, *layout, *hooks;
} State;

static PyMemberDef state_members[] = {
    {"_v", T_OBJECT, offsetof(State, v), 0, NULL},
    {"_cell", T_OBJECT, offsetof(State, cell), 0, NULL},
    {"_at", T_OBJECT, offsetof(State, at), 0, NULL},
    {"_view", T_OBJECT, offsetof(State, view), 0, NULL},
    {"_counter", T_OBJECT, offsetof(State, counter), 0, NULL},
    {"_leaf", T_OBJECT, offsetof(State, leaf), 0, NULL},
    {"_layout_", T_OBJECT, offsetof(State, layout), 0, NULL},
    {"_hooks_dict", T_OBJECT, offsetof(State, hooks), 0, NULL},
    {NULL},
};

static int state_traverse(PyObject *self, visitproc visit, void *arg)
{
    State *t = (State *)self;
    Py_VISIT(t->v);
    Py_VISIT(t->cell);
    Py_VISIT(t->view);
    Py_VISIT(t->counter);
    Py_VISIT(t->leaf);
    Py_VISIT(t->layout);
    Py_VISIT(t->hooks);
    return 0;
}

static int state_clear(PyObject *self)
{
    State *t = (State *)self;
    Py_CLEAR(t->v);
    Py_CLEAR(t->cell);
    Py_CLEAR(t->at);
    Py_CLEAR(t->view);
    Py_CLEAR(t->counter);
    Py_CLEAR(t->leaf);
    Py_CLEAR(t->layout);
    Py_CLEAR(t->hooks);
    return 0;
}

static void state_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    state_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject StateType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "_torchlike_speed.State",
    .tp_basicsize = sizeof(State),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "The fields of a Tensor; an unset field reads as None.",
    .tp_traverse = state_traverse,
    .tp_clear = state_clear,
    .tp_dealloc = state_dealloc,
    .tp_members = state_members,
    .tp_new = PyType_GenericNew,
};

#define TENSOR(t) ((State *)(t))
#define IS_NONE(p) ((p) == NULL || (p) == Py_None)

/* Python classes, and the offsets of their slots. */

#define SLOT(p, offset) (*(PyObject **)((char *)(p) + (offset)))

static PyTypeObject *Tensor, *Value, *Counter, *Cell, *View, *Leaf, *Simple, *Array, *Tape;
static PyObject *PLAIN, *REPLAY, *the_thread, *threads;
static PyObject *lock_acquire, *lock_release;
static PyObject *py_record_op, *py_read, *py_enter, *py_follow, *py_lead_nowhere, *py_twin, *py_view, *py_numbers, *py_device_array, *py_accumulate;
static PyObject *watched, *immediate, *stats, *credits, *serials, *ROOT, *py_deliver;
static PyObject *no_numbers, *LEAF, *INPLACE, *NOGRAD, *ZERO, *ONE;
static PyObject *s_flushes, *s_hits, *s_simple, *s_state, *s_default, *s_no_grad, *s_pattern;

static Py_ssize_t v_array, v_aval, v_leaf, v_needs, v_seen, v_slot, v_tape;
static Py_ssize_t tape_prefix, tape_values, tape_inputs, tape_slots, tape_floats, tape_ints, tape_seen, tape_leaves, tape_extra,
    tape_freed, tape_contexts, tape_kept;
static Py_ssize_t tape_serial, tape_owner, tape_program, tape_edges, tape_open, prefix_programs, prefix_used;
static Py_ssize_t program_guarded, program_runs, program_prefix, program_graph, program_shown;
static Py_ssize_t program_compiled, program_numbers, program_sent, program_places;
static Py_ssize_t leaf_grad, leaf_off, simple_arrivals, simple_checked, simple_first, simple_prefix, simple_saving;
static Py_ssize_t prefix_next, prefix_aval, prefix_needs, prefix_first;
static Py_ssize_t st_tape, st_grad;
static Py_ssize_t counter_n, counter_writer;
static Py_ssize_t cell_value, cell_counter, cell_layout, cell_n;
static Py_ssize_t view_base, view_chain, view_creation, view_under, view_geometry;
static Py_ssize_t aval_shape, spec_hot, spec_single_view;

static void set_slot(PyObject *p, Py_ssize_t offset, PyObject *x) /* takes a new reference to x */
{
    PyObject *old = SLOT(p, offset);
    SLOT(p, offset) = Py_NewRef(x);
    Py_XDECREF(old);
}

static void set_field(PyObject **field, PyObject *x)
{
    PyObject *old = *field;
    *field = Py_NewRef(x);
    Py_XDECREF(old);
}

static int is_plain(PyObject *x)
{
    PyTypeObject *kind = Py_TYPE(x);
    return kind == Tensor || (PyType_IsSubtype(kind, Tensor) && PySet_Contains(PLAIN, (PyObject *)kind) == 1);
}

/* Threads: the state of the running one (borrowed), and the lock, taken where there is more than one. */

static uint64_t last_thread = 0;
static PyObject *last_state = NULL;

static PyObject *state(void)
{
    if (the_thread == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "_torchlike_speed is not set up");
        return NULL;
    }
    uint64_t id = PyThreadState_GetID(PyThreadState_Get());
    if (id == last_thread && last_state != NULL)
        return last_state;
    PyObject *st = PyObject_GetAttr(the_thread, s_state);
    if (st == NULL)
        return NULL;
    Py_XSETREF(last_state, st);
    last_thread = id;
    return st;
}

static int lock(void)
{
    if (PyList_GET_ITEM(threads, 0) == ONE)
        return 0;
    PyObject *r = PyObject_CallNoArgs(lock_acquire);
    if (r == NULL)
        return -1;
    Py_DECREF(r);
    return 1;
}

static void unlock(int locked)
{
    if (locked <= 0)
        return;
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    Py_XDECREF(PyObject_CallNoArgs(lock_release));
    PyErr_Restore(kind, value, trace);
}

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
    if (s->v != NULL && (IS_NONE(s->cell) || (s->at != NULL && s->at == SLOT(s->cell, cell_n))))
        return Py_NewRef(s->v);
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
    return SLOT(edge, prefix_aval) == SLOT(target, v_aval) && (SLOT(target, v_needs) != Py_True || SLOT(edge, prefix_needs) == Py_True);
}

#define MOST 8 /* arguments that are followed here */

/* The remembered edge for a call, new; NULL without an error where there is none.  The tape is moved along it, the numbers are noted.
   target: the Value that the result will replace, or NULL. */
static PyObject *follow(PyObject *st, PyObject *tape, PyObject *spec, PyObject *mode, PyObject **ins, int n, PyObject *target)
{
    PyObject *slots[MOST];
    int k = 0;
    for (int i = 0; i < n; i++)
        if (Py_TYPE(ins[i]) == Value) {
            PyObject *slot = slot_on(tape, ins[i]);
            if (slot == NULL)
                return NULL;
            slots[k++] = Py_NewRef(slot);
        }
    PyObject *label = PyTuple_New(2 + k);
    if (label == NULL || SLOT(st, st_tape) != tape) {
        while (k)
            Py_DECREF(slots[--k]);
        Py_XDECREF(label);
        return NULL;
    }
    PyTuple_SET_ITEM(label, 0, Py_NewRef(spec));
    PyTuple_SET_ITEM(label, 1, Py_NewRef(mode));
    for (int i = 0; i < k; i++)
        PyTuple_SET_ITEM(label, 2 + i, slots[i]);
    PyObject *next = PyDict_GetItemWithError(SLOT(SLOT(tape, tape_prefix), prefix_next), label);
    Py_DECREF(label);
    if (next == NULL || SLOT(next, prefix_aval) == NULL || (target != NULL && !takes(target, next)))
        return NULL;
    Py_INCREF(next);
    for (int i = 0; i < n; i++)
        if (Py_TYPE(ins[i]) != Value && push_number(tape, ins[i]) < 0) {
            Py_DECREF(next);
            return NULL;
        }
    set_slot(tape, tape_prefix, next);
    return next;
}

/* The Value that an edge makes, new. */
static PyObject *result_of(PyObject *tape, PyObject *edge)
{
    PyObject *v = new_value(SLOT(edge, prefix_aval), SLOT(edge, prefix_needs), tape, SLOT(edge, prefix_first));
    if (v != NULL && PyList_Append(SLOT(tape, tape_values), v) < 0)
        Py_CLEAR(v);
    return v;
}

/* Record a call with one result on Values and numbers: its Value, new. */
static PyObject *record(PyObject *spec, PyObject **ins, int n)
{
    PyObject *st = state();
    if (st == NULL)
        return NULL;
    int locked = lock();
    if (locked < 0)
        return NULL;
    PyObject *tape = Py_NewRef(SLOT(st, st_tape)), *v = NULL;
    PyObject *edge = follow(st, tape, spec, SLOT(st, st_grad), ins, n, NULL);
    if (edge != NULL) {
        v = result_of(tape, edge);
        Py_DECREF(edge);
    }
    else if (!PyErr_Occurred()) {
        PyObject *flat = PyTuple_New(n);
        if (flat != NULL) {
            for (int i = 0; i < n; i++)
                PyTuple_SET_ITEM(flat, i, Py_NewRef(ins[i]));
            PyObject *out = PyObject_CallFunctionObjArgs(py_record_op, spec, flat, NULL);
            Py_DECREF(flat);
            if (out != NULL) {
                v = PySequence_GetItem(out, 0);
                Py_DECREF(out);
            }
        }
    }
    Py_DECREF(tape);
    unlock(locked);
    return v;
}

static PyObject *unary(PyObject *spec, PyObject *x)
{
    PyObject *v = read_value(x);
    if (v == NULL)
        return NULL;
    PyObject *out = record(spec, &v, 1);
    Py_DECREF(v);
    return wrap(out);
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
    return wrap(out);
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
    return wrap(numbered(spec, x, number));
}

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

static PyObject *new_view(PyObject *base, PyObject *chain, PyObject *creation, PyObject *under)
{
    PyObject *view = View->tp_alloc(View, 0);
    if (view != NULL) {
        SLOT(view, view_base) = Py_NewRef(base);
        SLOT(view, view_chain) = Py_NewRef(chain);
        SLOT(view, view_creation) = Py_NewRef(creation);
        SLOT(view, view_under) = Py_NewRef(under);
        SLOT(view, view_geometry) = Py_NewRef(Py_None);
    }
    return view;
}

/* hot.make_view for a view with one result, made in the thread's own mode; takes the reference to v. */
static PyObject *make_view(PyObject *source, PyObject *link, PyObject *numbers, PyObject *v)
{
    State *s = TENSOR(source);
    PyObject *st = state(), *t = NULL, *chain = NULL, *view = NULL;
    PyObject *cell = st == NULL ? NULL : cell_of(s);
    if (cell == NULL)
        goto fail;
    int grad = SLOT(st, st_grad) == Py_True;
    PyObject *creation = grad ? s_default : s_no_grad, *base, *under;
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
            if (grad)
                creation = SLOT(s->view, view_creation);
        }
    }
    if (chain == NULL)
        goto fail;
    view = new_view(base, chain, creation, under);
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
    if (!grad && SLOT(v, v_needs) != Py_True && SLOT(TENSOR(base)->v, v_needs) == Py_True) {
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
    if (PySet_GET_SIZE(REPLAY))
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
        out = make_view(source, spec, numbers, v);
    else
        Py_XDECREF(v);
    Py_XDECREF(numbers);
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
        int bad = SLOT(new, v_needs) == Py_True && SLOT(old, v_needs) == Py_True && follow_history(old, new, counter) < 0;
        Py_DECREF(old);
        return bad ? -1 : 0;
    }
    counter = s->counter;
    if (SLOT(new, v_needs) == Py_True && follow_history(old, new, counter) < 0)
        return -1;
    set_slot(s->cell, cell_value, new);
    if (increment(s->cell, cell_n) < 0 || increment(counter, counter_n) < 0)
        return -1;
    set_field(&s->v, new);
    set_field(&s->at, SLOT(s->cell, cell_n));
    return mark_seen(new, counter);
}

/* hot.twin in Python: t.op_(y), or t.op_() where y is NULL. */
static PyObject *general_twin(PyObject *spec, PyObject *t, PyObject *y)
{
    return PyObject_CallFunctionObjArgs(py_twin, spec, t, y == NULL ? Py_None : y, NULL);
}

/* hot.twin where the edge is remembered and the result has the target's type. */
static PyObject *twin(PyObject *spec, PyObject *t, PyObject *y)
{
    if (!IS_NONE(TENSOR(t)->view))
        return general_twin(spec, t, y);
    PyObject *st = state();
    PyObject *ins[2] = {st == NULL ? NULL : read_value(t), NULL};
    if (ins[0] == NULL)
        return NULL;
    PyObject *old = ins[0], *out = NULL, *edge = NULL, *new = NULL, *tape = NULL;
    int n = 1, locked = 0;
    if (y != NULL) {
        ins[n++] = PyType_IsSubtype(Py_TYPE(y), Tensor) ? read_value(y) : Py_NewRef(y);
        if (ins[1] == NULL)
            goto done;
    }
    int grad = SLOT(st, st_grad) == Py_True, needs = SLOT(old, v_needs) == Py_True;
    PyObject *leaf = needs ? SLOT(old, v_leaf) : Py_None;
    if (needs && (leaf == Py_None) != grad) {
        out = general_twin(spec, t, y);
        goto done;
    }
    if ((locked = lock()) < 0)
        goto done;
    tape = Py_NewRef(SLOT(st, st_tape));
    edge = follow(st, tape, spec, leaf != Py_None ? LEAF : grad ? INPLACE : NOGRAD, ins, n, old);
    if (edge != NULL) {
        new = result_of(tape, edge);
        if (new != NULL && leaf != Py_None) {
            set_slot(new, v_leaf, leaf);
            if (PyDict_SetItem(SLOT(tape, tape_leaves), SLOT(new, v_slot), leaf) < 0)
                Py_CLEAR(new);
        }
    }
    unlock(locked);
    if (edge == NULL) {
        if (!PyErr_Occurred())
            out = general_twin(spec, t, y);
    }
    else if (new != NULL && write_value(t, new) == 0)
        out = Py_NewRef(t);
done:
    Py_XDECREF(tape);
    Py_XDECREF(edge);
    Py_XDECREF(new);
    Py_DECREF(ins[0]);
    Py_XDECREF(ins[1]);
    return out;
}

/* Function: a function of the op table.  `known` and `kinds` are the tables of bind.make_function and bind.Recipes; `general` is the function in Python. */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *general, *known, *kinds, *flat_spec;
    int role;
} Function;

enum { CALL, SWAPPED, WRITE, ITEM };

static PyObject *known_call(PyObject *known, PyObject *x, PyObject *y)
{
    PyObject *spec = PyDict_GetItemWithError(known, (PyObject *)Py_TYPE(y));
    if (spec != NULL)
        return is_plain(y) ? binary(spec, x, y) : with_number(spec, x, y);
    if (PyErr_Occurred() || !PyLong_CheckExact(y))
        return NULL;
    PyObject *key = PyTuple_Pack(2, (PyObject *)&PyLong_Type, y);
    if (key == NULL)
        return NULL;
    spec = PyDict_GetItemWithError(known, key);
    Py_DECREF(key);
    if (spec == NULL)
        return NULL;
    return SLOT(spec, spec_single_view) == Py_True ? view_by(spec, x, NULL) : unary(spec, x);
}

/* The key of a kind of call: types of the arguments and of the keywords' values, then their names. */
static PyObject *kind_of(PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    PyObject *key = PyTuple_New(n + 2 * named);
    if (key == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < n + named; i++)
        PyTuple_SET_ITEM(key, i, Py_NewRef((PyObject *)Py_TYPE(args[i])));
    for (Py_ssize_t i = 0; i < named; i++)
        PyTuple_SET_ITEM(key, n + named + i, Py_NewRef(PyTuple_GET_ITEM(kwnames, i)));
    return key;
}

/* The structural values of a call, lists as tuples. */
static PyObject *structure_of(PyObject *fixed, PyObject *const *args)
{
    Py_ssize_t n = PyTuple_GET_SIZE(fixed);
    PyObject *key = PyTuple_New(n);
    for (Py_ssize_t i = 0; key != NULL && i < n; i++) {
        PyObject *x = args[PyLong_AsSsize_t(PyTuple_GET_ITEM(fixed, i))];
        x = PyList_CheckExact(x) ? PyList_AsTuple(x) : Py_NewRef(x);
        if (x == NULL)
            Py_CLEAR(key);
        else
            PyTuple_SET_ITEM(key, i, x);
    }
    return key;
}

/* (spec, picker, places of its flat inputs) of a call that was bound before, borrowed; NULL without an error where it was not. */
static PyObject *recipe(Function *f, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    PyObject *key = kind_of(args, n, kwnames);
    if (key == NULL)
        return NULL;
    PyObject *known = PyDict_GetItemWithError(f->kinds, key);
    Py_DECREF(key);
    if (known == NULL)
        return NULL;
    key = structure_of(PyTuple_GET_ITEM(known, 2), args);
    if (key == NULL)
        return NULL;
    PyObject *found = PyDict_GetItemWithError(PyTuple_GET_ITEM(known, 1), key);
    if (found == NULL && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Clear(); /* not hashable: the general way explains */
    Py_DECREF(key);
    return found;
}

/* A call by its recipe; NULL without an error where the general way has to go. */
static PyObject *by_recipe(PyObject *found, PyObject *const *args)
{
    PyObject *spec = PyTuple_GET_ITEM(found, 0), *places = PyTuple_GET_ITEM(found, 2);
    Py_ssize_t n = PyTuple_GET_SIZE(places);
    int view = SLOT(spec, spec_single_view) == Py_True;
    if (n > MOST || n < 1 || (view ? n > 2 : SLOT(spec, spec_hot) != Py_True))
        return NULL;
    PyObject *flat[MOST];
    for (Py_ssize_t i = 0; i < n; i++)
        flat[i] = args[PyLong_AsSsize_t(PyTuple_GET_ITEM(places, i))];
    if (view) {
        if (!PyObject_TypeCheck(flat[0], Tensor) || (n == 2 && PyObject_TypeCheck(flat[1], Tensor)))
            return NULL;
        return view_by(spec, flat[0], n == 2 ? flat[1] : NULL);
    }
    PyObject *out = NULL;
    Py_ssize_t k = 0;
    for (; k < n; k++) {
        flat[k] = PyObject_TypeCheck(flat[k], Tensor) ? read_value(flat[k]) : Py_NewRef(flat[k]);
        if (flat[k] == NULL)
            break;
    }
    if (k == n)
        out = wrap(record(spec, flat, (int)n));
    while (k)
        Py_DECREF(flat[--k]);
    return out;
}

static int is_matrix(PyObject *t)
{
    return is_plain(t) && PyTuple_GET_SIZE(SLOT(SLOT(TENSOR(t)->v, v_aval), aval_shape)) == 2;
}

/* x[i] and x[a:b:c] of a tensor with a first dim: `flat_spec` selects, `known` holds the slices by (dim, length, step). */
static PyObject *item(Function *f, PyObject *t, PyObject *index)
{
    PyObject *shape = SLOT(SLOT(TENSOR(t)->v, v_aval), aval_shape), *out = NULL;
    if (PyTuple_GET_SIZE(shape) == 0)
        return NULL;
    Py_ssize_t n = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, 0)), start, stop, step;
    if (PyLong_CheckExact(index)) {
        start = PyLong_AsSsize_t(index);
        if (start < -n || start >= n) {
            PyErr_Clear();
            return NULL;
        }
        if (start >= 0)
            return view_by(f->flat_spec, t, index);
        PyObject *i = PyLong_FromSsize_t(start + n);
        out = i == NULL ? NULL : view_by(f->flat_spec, t, i);
        Py_XDECREF(i);
        return out;
    }
    PySliceObject *s = (PySliceObject *)index;
    if ((s->start != Py_None && !PyLong_CheckExact(s->start)) || (s->stop != Py_None && !PyLong_CheckExact(s->stop)) ||
        (s->step != Py_None && s->step != ONE))
        return NULL;
    if (PySlice_Unpack(index, &start, &stop, &step) < 0)
        return NULL;
    Py_ssize_t length = PySlice_AdjustIndices(n, &start, &stop, 1);
    PyObject *key = Py_BuildValue("(nnn)", (Py_ssize_t)0, length, step), *i = PyLong_FromSsize_t(start);
    PyObject *spec = key == NULL ? NULL : PyDict_GetItemWithError(f->known, key);
    if (spec != NULL && i != NULL)
        out = view_by(spec, t, i);
    Py_XDECREF(key);
    Py_XDECREF(i);
    return out;
}

static PyObject *fast_call(Function *f, PyObject *const *args, Py_ssize_t n, PyObject *kwnames)
{
    PyObject *out = NULL;
    if (f->role == ITEM)
        return n == 2 && (PyLong_CheckExact(args[1]) || PySlice_Check(args[1])) ? item(f, args[0], args[1]) : NULL;
    if (f->role == WRITE) {
        PyObject *spec = NULL;
        if (kwnames == NULL && n > 0 && n < 3 && PyObject_TypeCheck(args[0], Tensor) && (n == 1 || args[1] != Py_None))
            spec = PyDict_GetItemWithError(f->known, n == 1 ? (PyObject *)Py_TYPE(Py_None) : (PyObject *)Py_TYPE(args[1]));
        return spec == NULL ? NULL : twin(spec, args[0], n == 1 ? NULL : args[1]);
    }
    if (f->role == CALL && kwnames == NULL && n > 0 && is_plain(args[0])) {
        if (n == 2) {
            if (f->flat_spec != NULL && is_matrix(args[0]) && is_matrix(args[1]))
                return binary(f->flat_spec, args[0], args[1]);
            out = known_call(f->known, args[0], args[1]);
        }
        else if (n == 1) {
            PyObject *spec = PyDict_GetItemWithError(f->known, Py_None);
            if (spec != NULL)
                return unary(spec, args[0]);
        }
        if (out != NULL || PyErr_Occurred())
            return out;
    }
    if (f->kinds == NULL)
        return NULL;
    PyObject *swapped[2];
    if (f->role == SWAPPED) {
        swapped[0] = args[1], swapped[1] = args[0];
        args = swapped;
    }
    PyObject *found = recipe(f, args, n, kwnames);
    if (found == NULL)
        return NULL;
    Py_INCREF(found);
    out = by_recipe(found, args);
    Py_DECREF(found);
    return out;
}

static PyObject *function_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Function *f = (Function *)self;
    if (kwnames != NULL && PyTuple_GET_SIZE(kwnames) == 0)
        kwnames = NULL;
    PyObject *out = fast_call(f, args, PyVectorcall_NARGS(nargsf), kwnames);
    if (out != NULL || PyErr_Occurred())
        return out;
    return PyObject_Vectorcall(f->general, args, nargsf, kwnames);
}

static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"general", "known", "kinds", "role", "flat_spec", NULL};
    PyObject *general, *known, *kinds = Py_None, *flat_spec = Py_None;
    int role = CALL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!|OiO", names, &general, &PyDict_Type, &known, &kinds, &role, &flat_spec))
        return NULL;
    Function *f = (Function *)type->tp_alloc(type, 0);
    if (f == NULL)
        return NULL;
    f->vectorcall = function_vectorcall;
    f->general = Py_NewRef(general);
    f->known = Py_NewRef(known);
    f->kinds = kinds == Py_None ? NULL : Py_NewRef(kinds);
    f->flat_spec = flat_spec == Py_None ? NULL : Py_NewRef(flat_spec);
    f->role = role;
    return (PyObject *)f;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg)
{
    Function *f = (Function *)self;
    Py_VISIT(f->general);
    Py_VISIT(f->known);
    Py_VISIT(f->kinds);
    Py_VISIT(f->flat_spec);
    return 0;
}

static int function_clear(PyObject *self)
{
    Function *f = (Function *)self;
    Py_CLEAR(f->general);
    Py_CLEAR(f->known);
    Py_CLEAR(f->kinds);
    Py_CLEAR(f->flat_spec);
    return 0;
}

static void function_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    function_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *function_bind(PyObject *self, PyObject *obj, PyObject *type)
{
    return obj == NULL || obj == Py_None ? Py_NewRef(self) : PyMethod_New(self, obj);
}

/* Everything else is asked of the function in Python. */
static PyObject *function_getattr(PyObject *self, PyObject *name)
{
    PyObject *out = PyObject_GenericGetAttr(self, name);
    if (out != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return out;
    PyErr_Clear();
    return PyObject_GetAttr(((Function *)self)->general, name);
}

static PyObject *function_doc(PyObject *self, void *closure)
{
    return PyObject_GetAttrString(((Function *)self)->general, "__doc__");
}

static PyObject *function_module(PyObject *self, void *closure)
{
    return PyObject_GetAttrString(((Function *)self)->general, "__module__");
}

static PyObject *function_reduce(PyObject *self, PyObject *unused)
{
    return PyObject_GetAttrString(((Function *)self)->general, "__qualname__");
}

static PyObject *function_repr(PyObject *self)
{
    return PyObject_Repr(((Function *)self)->general);
}

static PyGetSetDef function_getset[] = {
    {"__doc__", function_doc, NULL, NULL, NULL},
    {"__module__", function_module, NULL, NULL, NULL},
    {NULL},
};

static PyMethodDef function_methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, "Copied and pickled by name, as functions are."},
    {NULL},
};

static PyMemberDef function_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Function, general), READONLY, NULL},
    {NULL},
};

static PyTypeObject FunctionType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "_torchlike_speed.Function",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(Function, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = function_new,
    .tp_dealloc = function_dealloc,
    .tp_traverse = function_traverse,
    .tp_clear = function_clear,
    .tp_descr_get = function_bind,
    .tp_getattro = function_getattr,
    .tp_getset = function_getset,
    .tp_methods = function_methods,
    .tp_members = function_members,
    .tp_repr = function_repr,
};

/* Gradient: the property `grad`; a gradient that is there is read, None is written. */

typedef struct {
    PyObject_HEAD
    PyObject *general;
} Gradient;

static PyObject *gradient_get(PyObject *self, PyObject *t, PyObject *type)
{
    if (t == NULL || t == Py_None || !PyObject_TypeCheck(t, &StateType))
        return Py_NewRef(self);
    PyObject *leaf = TENSOR(t)->leaf;
    if (!IS_NONE(leaf) && SLOT(leaf, leaf_grad) != Py_None)
        return Py_NewRef(SLOT(leaf, leaf_grad));
    return Py_TYPE(((Gradient *)self)->general)->tp_descr_get(((Gradient *)self)->general, t, type);
}

static int gradient_set(PyObject *self, PyObject *t, PyObject *value)
{
    if (value == Py_None && PyObject_TypeCheck(t, &StateType)) {
        PyObject *leaf = TENSOR(t)->leaf;
        if (!IS_NONE(leaf))
            set_slot(leaf, leaf_grad, Py_None);
        return 0;
    }
    return Py_TYPE(((Gradient *)self)->general)->tp_descr_set(((Gradient *)self)->general, t, value);
}

static PyObject *gradient_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *general;
    if (!PyArg_ParseTuple(args, "O!", &PyProperty_Type, &general))
        return NULL;
    PyObject *self = type->tp_alloc(type, 0);
    if (self != NULL)
        ((Gradient *)self)->general = Py_NewRef(general);
    return self;
}

static void gradient_dealloc(PyObject *self)
{
    Py_XDECREF(((Gradient *)self)->general);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *gradient_getattr(PyObject *self, PyObject *name)
{
    PyObject *out = PyObject_GenericGetAttr(self, name);
    if (out != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return out;
    PyErr_Clear();
    return PyObject_GetAttr(((Gradient *)self)->general, name);
}

static PyTypeObject GradientType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "_torchlike_speed.Gradient",
    .tp_basicsize = sizeof(Gradient),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = gradient_new,
    .tp_dealloc = gradient_dealloc,
    .tp_getattro = gradient_getattr,
    .tp_descr_get = gradient_get,
    .tp_descr_set = gradient_set,
};

/* record.record_op for calls with one result: the list of its Value. */
static PyObject *speed_record_op(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs < 2 || nargs > 3)
        return PyErr_Format(PyExc_TypeError, "record_op(spec, ins, mode=None)");
    PyObject *ins = PySequence_Fast(args[1], "ins is a sequence"), *st = state(), *out = NULL, *edge = NULL;
    if (ins == NULL || st == NULL)
        goto done;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(ins);
    if (n <= MOST) {
        int locked = lock();
        if (locked < 0)
            goto done;
        PyObject *tape = Py_NewRef(SLOT(st, st_tape)), *mode = nargs < 3 || args[2] == Py_None ? SLOT(st, st_grad) : args[2];
        edge = follow(st, tape, args[0], mode, PySequence_Fast_ITEMS(ins), (int)n, NULL);
        if (edge != NULL) {
            PyObject *v = result_of(tape, edge);
            out = v == NULL ? NULL : PyList_New(1);
            if (out != NULL)
                PyList_SET_ITEM(out, 0, v);
            else
                Py_XDECREF(v);
        }
        Py_DECREF(tape);
        unlock(locked);
    }
    if (out == NULL && edge == NULL && !PyErr_Occurred())
        out = PyObject_Vectorcall(py_record_op, args, nargs, NULL);
done:
    Py_XDECREF(edge);
    Py_XDECREF(ins);
    return out;
}

static PyObject *speed_unary(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return unary(args[0], args[1]);
}

static PyObject *speed_binary(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return binary(args[0], args[1], args[2]);
}

static PyObject *speed_with_number(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return with_number(args[0], args[1], args[2]);
}

static PyObject *speed_view(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return view_by(args[0], args[1], nargs < 3 || args[2] == Py_None ? NULL : args[2]);
}

static PyObject *speed_twin(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return twin(args[0], args[1], args[2] == Py_None ? NULL : args[2]);
}

static PyObject *mask_of(PyObject *values);

/* One byte a value: 1 where somebody besides the list holds it. */
static PyObject *speed_live_mask(PyObject *module, PyObject *values)
{
    return mask_of(values);
}

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
    Py_XDECREF(raw);
    return PyObject_CallFunctionObjArgs(py_numbers, program, floats, ints, NULL);
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
    if (k == n + 1)
        out = PyObject_Vectorcall(SLOT(program, program_compiled), flat, n + 1, NULL);
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
        if (SLOT(v, v_needs) != Py_True || SLOT(v, v_leaf) != Py_None)
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
    PyObject *tape = Tape->tp_alloc(Tape, 0), *serial = NULL;
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
    SLOT(tape, tape_owner) = Py_NewRef(owner);
    SLOT(tape, tape_prefix) = Py_NewRef(ROOT);
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
    if (program == NULL || SLOT(program, program_compiled) == Py_None || PyTuple_GET_SIZE(SLOT(program, program_guarded)))
        return NULL;
    return program;
}

static int show(PyObject *values, PyObject *shown, PyObject *arrays);
static PyObject *run_program(PyObject *program, PyObject *tape);

/* execute._execute and execute._deliver of a compiled program without guards. */
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
    int bad;
    if (SLOT(program, program_graph) == Py_True) {
        PyObject *r = PyObject_CallFunctionObjArgs(py_deliver, tape, program, arrays, NULL);
        bad = r == NULL;
        Py_XDECREF(r);
    }
    else {
        bad = show(SLOT(tape, tape_values), SLOT(program, program_shown), arrays) < 0;
        set_slot(tape, tape_program, program);
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
    else if (SLOT(program, program_graph) != Py_True) {
        empty(SLOT(tape, tape_inputs));
        empty(SLOT(tape, tape_floats));
        empty(SLOT(tape, tape_ints));
        PyDict_Clear(SLOT(tape, tape_slots));
    }
    Py_DECREF(tape);
    Py_DECREF(program);
    return bad ? NULL : Py_NewRef(Py_True);
}

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
    PyObject *r = PyObject_CallFunctionObjArgs(py_accumulate, leaf, g, NULL);
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

/* Setting up */

static int offset_of(PyObject *names, const char *class, const char *slot, Py_ssize_t *out)
{
    PyObject *type = PyDict_GetItemString(names, class);
    PyObject *descr = type == NULL ? NULL : PyDict_GetItemString(((PyTypeObject *)type)->tp_dict, slot);
    if (descr == NULL || !Py_IS_TYPE(descr, &PyMemberDescr_Type)) {
        PyErr_Format(PyExc_RuntimeError, "%s has no slot %s", class, slot);
        return -1;
    }
    *out = ((PyMemberDescrObject *)descr)->d_member->offset;
    return 0;
}

static int named(PyObject *names, const char *name, PyObject **out)
{
    *out = Py_XNewRef(PyDict_GetItemString(names, name));
    if (*out == NULL)
        PyErr_Format(PyExc_RuntimeError, "set_up() lacks %s", name);
    return *out == NULL ? -1 : 0;
}

/* set_up(**names): the classes and functions of the package. */
static PyObject *speed_set_up(PyObject *module, PyObject *args, PyObject *names)
{
    static const struct { const char *class, *slot; Py_ssize_t *offset; } slots[] = {
        {"Value", "array", &v_array}, {"Value", "aval", &v_aval}, {"Value", "leaf", &v_leaf}, {"Value", "needs", &v_needs},
        {"Value", "seen", &v_seen}, {"Value", "slot", &v_slot}, {"Value", "tape", &v_tape},
        {"Tape", "prefix", &tape_prefix}, {"Tape", "values", &tape_values}, {"Tape", "inputs", &tape_inputs}, {"Tape", "slots", &tape_slots},
        {"Tape", "floats", &tape_floats}, {"Tape", "ints", &tape_ints}, {"Tape", "seen", &tape_seen}, {"Tape", "leaves", &tape_leaves},
        {"Tape", "extra", &tape_extra}, {"Tape", "freed", &tape_freed}, {"Tape", "contexts", &tape_contexts},
        {"Tape", "serial", &tape_serial}, {"Tape", "owner", &tape_owner}, {"Tape", "program", &tape_program}, {"Tape", "edges", &tape_edges},
        {"Tape", "open", &tape_open}, {"Tape", "kept", &tape_kept},
        {"Prefix", "programs", &prefix_programs}, {"Prefix", "used", &prefix_used},
        {"Program", "guarded", &program_guarded}, {"Program", "runs", &program_runs}, {"Program", "prefix", &program_prefix},
        {"Program", "graph", &program_graph}, {"Program", "shown", &program_shown},
        {"Program", "compiled", &program_compiled}, {"Program", "numbers", &program_numbers}, {"Program", "sent", &program_sent},
        {"Program", "argument_indices", &program_places},
        {"Leaf", "grad", &leaf_grad}, {"Leaf", "off", &leaf_off},
        {"Simple", "arrivals", &simple_arrivals}, {"Simple", "checked", &simple_checked}, {"Simple", "first", &simple_first},
        {"Simple", "prefix", &simple_prefix}, {"Simple", "saving", &simple_saving},
        {"Prefix", "next", &prefix_next}, {"Prefix", "aval", &prefix_aval}, {"Prefix", "needs", &prefix_needs}, {"Prefix", "first", &prefix_first},
        {"ThreadState", "tape", &st_tape}, {"ThreadState", "grad", &st_grad},
        {"Counter", "n", &counter_n}, {"Counter", "writer", &counter_writer},
        {"Cell", "value", &cell_value}, {"Cell", "counter", &cell_counter}, {"Cell", "layout", &cell_layout}, {"Cell", "n", &cell_n},
        {"View", "base", &view_base}, {"View", "chain", &view_chain}, {"View", "creation", &view_creation}, {"View", "under", &view_under},
        {"View", "geometry", &view_geometry},
        {"Aval", "shape", &aval_shape}, {"Spec", "hot", &spec_hot}, {"Spec", "single_view", &spec_single_view},
    };
    const struct { const char *name; PyObject **out; } objects[] = {
        {"Tensor", (PyObject **)&Tensor}, {"Value", (PyObject **)&Value}, {"Counter", (PyObject **)&Counter}, {"Cell", (PyObject **)&Cell},
        {"View", (PyObject **)&View}, {"PLAIN", &PLAIN}, {"REPLAY", &REPLAY}, {"thread", &the_thread}, {"threads", &threads},
        {"acquire", &lock_acquire}, {"release", &lock_release}, {"record_op", &py_record_op}, {"read", &py_read}, {"enter", &py_enter},
        {"follow", &py_follow}, {"lead_nowhere", &py_lead_nowhere}, {"twin", &py_twin}, {"view", &py_view},
        {"Leaf", (PyObject **)&Leaf}, {"Simple", (PyObject **)&Simple}, {"Array", (PyObject **)&Array}, {"numbers", &py_numbers},
        {"device_array", &py_device_array}, {"accumulate", &py_accumulate}, {"watched", &watched}, {"stats", &stats}, {"credits", &credits}, {"serials", &serials}, {"ROOT", &ROOT}, {"deliver", &py_deliver},
        {"Tape", (PyObject **)&Tape}, {"immediate", &immediate},
        {"LEAF", &LEAF}, {"INPLACE", &INPLACE}, {"NOGRAD", &NOGRAD},
    };
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (named(names, objects[i].name, objects[i].out) < 0)
            return NULL;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (offset_of(names, slots[i].class, slots[i].slot, slots[i].offset) < 0)
            return NULL;
    for (size_t i = 0; i < TAPE_FIELDS; i++)
        if (offset_of(names, "Tape", tape_fields[i].slot, &tape_fields[i].offset) < 0)
            return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_up", (PyCFunction)(void (*)(void))speed_set_up, METH_VARARGS | METH_KEYWORDS, "Take the package's classes and functions."},
    {"record_op", (PyCFunction)(void (*)(void))speed_record_op, METH_FASTCALL, "record.record_op"},
    {"unary", (PyCFunction)(void (*)(void))speed_unary, METH_FASTCALL, "hot.unary"},
    {"binary", (PyCFunction)(void (*)(void))speed_binary, METH_FASTCALL, "hot.binary"},
    {"with_number", (PyCFunction)(void (*)(void))speed_with_number, METH_FASTCALL, "hot.with_number"},
    {"view", (PyCFunction)(void (*)(void))speed_view, METH_FASTCALL, "hot.view"},
    {"twin", (PyCFunction)(void (*)(void))speed_twin, METH_FASTCALL, "hot.twin"},
    {"run", (PyCFunction)(void (*)(void))speed_run, METH_FASTCALL, "The results of a compiled program on what a tape holds."},
    {"deliver", (PyCFunction)(void (*)(void))speed_deliver, METH_FASTCALL, "Give the Values that somebody holds their arrays."},
    {"backward", speed_backward, METH_O, "simple.run_simple on the open tape; whether it was done."},
    {"flush", speed_flush, METH_O, "Run what is pending on a tape by its compiled program; whether it was done."},
    {"new_tape", speed_new_tape, METH_O, "record.Tape(owner)"},
    {"live_mask", speed_live_mask, METH_O, "execute.live_mask"},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_torchlike_speed", .m_doc = "The remembered paths of torchlike_autograd in C.", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__torchlike_speed(void)
{
    s_state = PyUnicode_InternFromString("state");
    s_flushes = PyUnicode_InternFromString("flushes");
    s_hits = PyUnicode_InternFromString("hits");
    s_simple = PyUnicode_InternFromString("simple");
    s_pattern = PyUnicode_InternFromString("pattern");
    s_default = PyUnicode_InternFromString("default");
    s_no_grad = PyUnicode_InternFromString("no_grad");
    ZERO = PyLong_FromLong(0);
    ONE = PyLong_FromLong(1);
    no_numbers = PyTuple_New(0);
    if (!s_flushes || !s_hits || !s_simple || !s_state || !s_pattern || !s_default || !s_no_grad || !ZERO || !ONE || !no_numbers)
        return NULL;
    if (PyType_Ready(&StateType) < 0 || PyType_Ready(&FunctionType) < 0 || PyType_Ready(&GradientType) < 0)
        return NULL;
    PyObject *m = PyModule_Create(&definition);
    if (m == NULL)
        return NULL;
    if (PyModule_AddObjectRef(m, "State", (PyObject *)&StateType) < 0 || PyModule_AddObjectRef(m, "Function", (PyObject *)&FunctionType) < 0 ||
        PyModule_AddObjectRef(m, "Gradient", (PyObject *)&GradientType) < 0 ||
        PyModule_AddStringConstant(m, "source", SOURCE) < 0) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
