/* The objects of the package as C sees them: a Tensor's fields, slots by offset, the running thread. */

/* State: the fields of a Tensor; an unset field reads as None. */

typedef struct {
    PyObject_HEAD
    PyObject *v, *cell, *at, *view, *counter, *leaf, *layout, *hooks;
} State;

static PyMemberDef state_members[] = {
    {"_tl_v", T_OBJECT, offsetof(State, v), 0, NULL},
    {"_tl_cell", T_OBJECT, offsetof(State, cell), 0, NULL},
    {"_tl_at", T_OBJECT, offsetof(State, at), 0, NULL},
    {"_tl_view", T_OBJECT, offsetof(State, view), 0, NULL},
    {"_tl_counter", T_OBJECT, offsetof(State, counter), 0, NULL},
    {"_tl_leaf", T_OBJECT, offsetof(State, leaf), 0, NULL},
    {"_tl_laid", T_OBJECT, offsetof(State, layout), 0, NULL},
    {"_tl_hooks_dict", T_OBJECT, offsetof(State, hooks), 0, NULL},
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

/* What a weak reference points to, new; NULL where it is gone. */
static PyObject *target_of(PyObject *ref)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *found = NULL;
    return PyWeakref_GetRef(ref, &found) == 1 ? found : NULL;
#else
    PyObject *found = PyWeakref_GetObject(ref);
    return found == NULL || found == Py_None ? NULL : Py_NewRef(found);
#endif
}

/* Python classes, and the offsets of their slots. */

#define SLOT(p, offset) (*(PyObject **)((char *)(p) + (offset)))

static PyTypeObject *Tensor, *Value, *Counter, *Cell, *View, *Leaf, *Simple, *Array, *Tape, *Prefix, *Stage;
static PyObject *PLAIN, *REPLAY, *the_thread, *threads;
static PyObject *lock_acquire, *lock_release;
static PyObject *py_record_op, *py_read, *py_enter, *py_follow, *py_lead_nowhere, *py_view, *py_links, *py_write, *py_numbers, *py_sent, *py_device_array, *py_accumulate, *py_note, *py_await_codes, *py_spare, *py_checked, *py_retain, *py_release_kept, *py_edges_lead, *py_second_time, *py_lay;
static PyObject *watched, *immediate, *stats, *credits, *serials, *ADD, *py_flush, *py_value_at, *py_number_at;
static PyObject *no_numbers, *LEAF, *INPLACE, *NOGRAD, *ZERO, *ONE;
static PyObject *s_flushes, *s_hits, *s_simple, *s_state, *s_default, *s_no_grad, *s_pattern, *s_gradient, *s_ready, *s_check, *s_casts, *s_derivative;

static Py_ssize_t v_array, v_aval, v_leaf, v_needs, v_seen, v_slot, v_tape;
static Py_ssize_t tape_prefix, tape_values, tape_inputs, tape_slots, tape_floats, tape_ints, tape_seen, tape_leaves, tape_extra,
    tape_freed, tape_contexts, tape_kept;
static Py_ssize_t tape_serial, tape_before, tape_owner, tape_program, tape_edges, tape_open, prefix_programs, prefix_used, prefix_turned, prefix_step;
static Py_ssize_t step_out_avals, step_needs, step_first, step_ins, stage_visits, stage_cots, stage_outs, stage_looks, seen_hooks, seen_retain;
static Py_ssize_t visit_step, visit_pull, visit_wanted, visit_given, pull_keep, pull_passes;
static Py_ssize_t program_guarded, program_runs, program_prefix, program_graph, program_shown, program_keeps;
static Py_ssize_t program_compiled, program_donates, program_sources, program_numbers, program_sent, program_places;
static Py_ssize_t leaf_grad, leaf_off, leaf_hooks, leaf_post, leaf_prehooks, leaf_posthooks, simple_arrivals, simple_checked, simple_first, simple_prefix, simple_saving;
static Py_ssize_t simple_ones, simple_form, simple_reads, simple_numbers;
static Py_ssize_t prefix_memo, prefix_next, prefix_notes, prefix_aval, prefix_needs, prefix_first;
static Py_ssize_t st_tape, st_grad, st_inference, st_saved_hooks, st_extra, st_root, st_anomaly;
static Py_ssize_t counter_n, counter_writer;
static Py_ssize_t cell_value, cell_counter, cell_layout, cell_n;
static Py_ssize_t view_base, view_chain, view_creation, view_under, view_geometry, view_bent;
static Py_ssize_t aval_shape, spec_guarded, spec_checks, spec_hot, spec_single_view, spec_links, spec_lies, spec_bends;

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

/* What a `needs` says: in inference mode it is a number (record.INFERENCE). */
static int truth(PyObject *needs)
{
    return needs == Py_True || (needs != Py_False && PyObject_IsTrue(needs) == 1);
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
