/* Calls that were recorded before, followed in C (layer 6).

   This file decides nothing.  It holds the same shortcuts as _core/hot.py, _core/bind.py and _core/execute.py, over the same Python objects, whose
   slots it reads by offset; where there is no remembered edge it calls the general way in Python.  The package is complete without it.

   `v` is a Value, `t` a Tensor, `st` the thread's ThreadState; "borrowed" and "new" say who owns a reference. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <float.h>
#include <math.h>
#include <stddef.h>

#ifndef SOURCE
#define SOURCE "unknown"
#endif

#include "state.h"
#include "extend.h"
#include "record.h"
#include "storage.h"
#include "function.h"
#include "run.h"
#include "backward.h"
#include "host.h"
#include "walk.h"
#include "lifetimes.h"
#include "normals.h"

/* The functions of the module */

static PyObject *speed_record_op(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs < 2 || nargs > 3)
        return PyErr_Format(PyExc_TypeError, "record_op(spec, ins, mode=None)");
    PyObject *ins = PySequence_Fast(args[1], "ins is a sequence");
    if (ins == NULL)
        return NULL;
    PyObject *out = record_all(args[0], nargs < 3 || args[2] == Py_None ? NULL : args[2], PySequence_Fast_ITEMS(ins), PySequence_Fast_GET_SIZE(ins));
    Py_DECREF(ins);
    return out;
}

/* Whether x is a Tensor; TypeError where it is not. */
static int is_tensor(PyObject *x)
{
    if (PyObject_TypeCheck(x, Tensor))
        return 1;
    PyErr_Format(PyExc_TypeError, "expected a Tensor, not '%.200s'", Py_TYPE(x)->tp_name);
    return 0;
}

static PyObject *speed_unary(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return is_tensor(args[1]) ? unary(args[0], args[1]) : NULL;
}

static PyObject *speed_binary(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return is_tensor(args[1]) && is_tensor(args[2]) ? binary(args[0], args[1], args[2]) : NULL;
}

static PyObject *speed_with_number(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return is_tensor(args[1]) ? with_number(args[0], args[1], args[2]) : NULL;
}

static PyObject *speed_view(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    return is_tensor(args[1]) ? view_by(args[0], args[1], nargs < 3 || args[2] == Py_None ? NULL : args[2]) : NULL;
}

static PyObject *speed_twin(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    if (!is_tensor(args[1]))
        return NULL;
    PyObject *flat[2] = {args[1], args[2]}, *out = twin(args[0], flat, args[2] == Py_None ? 1 : 2);
    if (out != NULL || PyErr_Occurred())
        return out;
    PyObject *given = args[2] == Py_None ? PyTuple_Pack(1, args[1]) : PyTuple_Pack(2, args[1], args[2]);
    if (given == NULL)
        return NULL;
    out = PyObject_CallFunctionObjArgs(args[3], args[0], given, args[1], NULL);
    Py_DECREF(given);
    return out;
}

/* One byte a value: 1 where somebody besides the list holds it. */
static PyObject *speed_live_mask(PyObject *module, PyObject *values)
{
    return mask_of(values);
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
        {"Tape", "serial", &tape_serial}, {"Tape", "before", &tape_before}, {"Tape", "owner", &tape_owner}, {"Tape", "program", &tape_program}, {"Tape", "edges", &tape_edges},
        {"Tape", "open", &tape_open}, {"Tape", "kept", &tape_kept},
        {"Prefix", "programs", &prefix_programs}, {"Prefix", "used", &prefix_used}, {"Prefix", "turned", &prefix_turned}, {"Prefix", "step", &prefix_step},
        {"Step", "out_avals", &step_out_avals}, {"Step", "needs", &step_needs}, {"Step", "first", &step_first}, {"Step", "ins", &step_ins},
        {"Stage", "visits", &stage_visits}, {"Stage", "cots", &stage_cots}, {"Stage", "outs", &stage_outs}, {"Stage", "looks", &stage_looks},
        {"Observed", "hooks", &seen_hooks}, {"Observed", "retain", &seen_retain},
        {"Visit", "step", &visit_step}, {"Visit", "pull", &visit_pull}, {"Visit", "wanted", &visit_wanted}, {"Visit", "given", &visit_given},
        {"Form", "_host", &form_host}, {"Pullback", "keep", &pull_keep}, {"Pullback", "passes", &pull_passes},
        {"Program", "guarded", &program_guarded}, {"Program", "runs", &program_runs}, {"Program", "prefix", &program_prefix},
        {"Program", "graph", &program_graph}, {"Program", "shown", &program_shown}, {"Program", "keeps", &program_keeps},
        {"Program", "compiled", &program_compiled}, {"Program", "donates", &program_donates}, {"Program", "sources", &program_sources}, {"Program", "numbers", &program_numbers}, {"Program", "sent", &program_sent},
        {"Program", "argument_indices", &program_places},
        {"Leaf", "grad", &leaf_grad}, {"Leaf", "off", &leaf_off}, {"Leaf", "hooks", &leaf_hooks}, {"Leaf", "post", &leaf_post},
        {"Leaf", "prehooks", &leaf_prehooks}, {"Leaf", "posthooks", &leaf_posthooks},
        {"Simple", "arrivals", &simple_arrivals}, {"Simple", "checked", &simple_checked}, {"Simple", "first", &simple_first},
        {"Simple", "prefix", &simple_prefix}, {"Simple", "saving", &simple_saving},
        {"Simple", "ones", &simple_ones}, {"Simple", "form", &simple_form}, {"Simple", "reads", &simple_reads}, {"Simple", "numbers", &simple_numbers},
        {"Prefix", "memo", &prefix_memo},
        {"Prefix", "next", &prefix_next}, {"Prefix", "notes", &prefix_notes}, {"Prefix", "aval", &prefix_aval}, {"Prefix", "needs", &prefix_needs}, {"Prefix", "first", &prefix_first},
        {"ThreadState", "tape", &st_tape}, {"ThreadState", "grad", &st_grad}, {"ThreadState", "root", &st_root}, {"ThreadState", "anomaly", &st_anomaly},
        {"ThreadState", "inference", &st_inference}, {"ThreadState", "saved_hooks", &st_saved_hooks}, {"ThreadState", "extra", &st_extra},
        {"Counter", "n", &counter_n}, {"Counter", "writer", &counter_writer},
        {"Cell", "value", &cell_value}, {"Cell", "counter", &cell_counter}, {"Cell", "layout", &cell_layout}, {"Cell", "n", &cell_n},
        {"View", "base", &view_base}, {"View", "chain", &view_chain}, {"View", "creation", &view_creation}, {"View", "under", &view_under},
        {"View", "geometry", &view_geometry}, {"View", "bent", &view_bent}, {"Spec", "lies", &spec_lies}, {"Spec", "bends", &spec_bends},
        {"Spec", "forms", &spec_forms}, {"Form", "diff_in", &form_diff_in}, {"Form", "diff_out", &form_diff_out}, {"Form", "out_avals", &form_out_avals},
        {"Step", "kind", &step_kind}, {"Step", "form", &step_form}, {"Step", "mode", &step_mode}, {"Step", "packed", &step_packed}, {"Step", "wanted", &step_wanted},
        {"Prefix", "parent", &prefix_parent}, {"Prefix", "size", &prefix_size}, {"Prefix", "inputs", &prefix_inputs}, {"Prefix", "numbers", &prefix_numbers},
        {"Prefix", "weight", &prefix_weight}, {"Prefix", "watched", &prefix_watched}, {"Prefix", "frees", &prefix_frees}, {"Prefix", "setup", &prefix_setup}, {"Prefix", "guarded", &prefix_guarded},
        {"Aval", "shape", &aval_shape}, {"Spec", "guarded", &spec_guarded}, {"Spec", "checks", &spec_checks}, {"Spec", "hot", &spec_hot}, {"Spec", "single_view", &spec_single_view}, {"Spec", "links", &spec_links},
    };
    const struct { const char *name; PyObject **out; } objects[] = {
        {"Tensor", (PyObject **)&Tensor}, {"Value", (PyObject **)&Value}, {"Counter", (PyObject **)&Counter}, {"Cell", (PyObject **)&Cell},
        {"View", (PyObject **)&View}, {"PLAIN", &PLAIN}, {"REPLAY", &REPLAY}, {"thread", &the_thread}, {"threads", &threads},
        {"acquire", &lock_acquire}, {"release", &lock_release}, {"record_op", &py_record_op}, {"read", &py_read}, {"enter", &py_enter},
        {"follow", &py_follow}, {"lead_nowhere", &py_lead_nowhere}, {"view", &py_view}, {"write", &py_write},
        {"Leaf", (PyObject **)&Leaf}, {"Simple", (PyObject **)&Simple}, {"Array", (PyObject **)&Array}, {"numbers", &py_numbers}, {"sent", &py_sent},
        {"device_array", &py_device_array}, {"accumulate", &py_accumulate}, {"note", &py_note}, {"await_codes", &py_await_codes}, {"spare", &py_spare}, {"checked", &py_checked}, {"retain", &py_retain}, {"release_kept", &py_release_kept}, {"edges_lead", &py_edges_lead}, {"second_time", &py_second_time}, {"lay", &py_lay}, {"watched", &watched}, {"stats", &stats}, {"credits", &credits}, {"serials", &serials}, {"ADD", &ADD}, {"flush", &py_flush}, {"value_at", &py_value_at}, {"number_at", &py_number_at},
        {"Tape", (PyObject **)&Tape}, {"Stage", (PyObject **)&Stage}, {"Prefix", (PyObject **)&Prefix}, {"immediate", &immediate},
        {"Spec", (PyObject **)&Spec}, {"Form", (PyObject **)&Form}, {"Step", (PyObject **)&Step}, {"number_avals", &number_avals},
        {"record_limit", &record_limit}, {"made_nodes", &made_nodes}, {"links", &py_links},
        {"Pullback", (PyObject **)&Pullback}, {"call_on_host", &py_call_on_host}, {"pull_on_host", &py_pull_on_host}, {"number_of", &py_number_of},
        {"add_arrays", &py_add_arrays},
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
    {"views", (PyCFunction)(void (*)(void))speed_views, METH_FASTCALL, "All results of a view operator of one tensor."},
    {"twin", (PyCFunction)(void (*)(void))speed_twin, METH_FASTCALL, "hot.twin"},
    {"write", (PyCFunction)(void (*)(void))speed_write, METH_FASTCALL, "storage.write"},
    {"run", (PyCFunction)(void (*)(void))speed_run, METH_FASTCALL, "The results of a compiled program on what a tape holds."},
    {"deliver", (PyCFunction)(void (*)(void))speed_deliver, METH_FASTCALL, "Give the Values that somebody holds their arrays."},
    {"backward", speed_backward, METH_O, "simple.run_simple where the pass is known; whether it was done."},
    {"flush", speed_flush, METH_O, "Run what is pending on a tape by its compiled program; whether it was done."},
    {"new_tape", speed_new_tape, METH_O, "record.Tape(owner)"},
    {"run_stage", (PyCFunction)(void (*)(void))speed_run_stage, METH_FASTCALL, "The gradients that leave a stage, recorded call by call."},
    {"record_stage", (PyCFunction)(void (*)(void))speed_record_stage, METH_FASTCALL, "A stage that was recorded before."},
    {"run_on_host", (PyCFunction)(void (*)(void))speed_run_on_host, METH_FASTCALL, "The steps of a program one by one, on the host."},
    {"walk", (PyCFunction)(void (*)(void))speed_walk, METH_FASTCALL, "walk.Walk over an open tape, as far as it was recorded before."},
    {"leave", (PyCFunction)(void (*)(void))speed_leave, METH_FASTCALL, "leaving.leave, where all gradients are first ones of plain leaves."},
    {"finish", speed_finish, METH_O, "leaving.finish_leaf for leaves that nobody watches."},
    {"accumulate", (PyCFunction)(void (*)(void))speed_accumulate, METH_FASTCALL, "Add a gradient to a leaf's."},
    {"live_mask", speed_live_mask, METH_O, "execute.live_mask"},
    {"box_muller", (PyCFunction)(void (*)(void))speed_box_muller, METH_FASTCALL, "rng_math.box_muller of float32, into a buffer."},
    {"libm", (PyCFunction)(void (*)(void))speed_libm, METH_FASTCALL, "rng_math.libm, into a buffer."},
    {"attached", (PyCFunction)(void (*)(void))speed_attached, METH_FASTCALL, "lifetimes._attached"},
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
    s_derivative = PyUnicode_InternFromString("derivative");
    s_default = PyUnicode_InternFromString("default");
    s_gradient = PyUnicode_InternFromString("gradient");
    s_ready = PyUnicode_InternFromString("ready");
    s_check = PyUnicode_InternFromString("check");
    s_casts = PyUnicode_InternFromString("casts");
    s_no_grad = PyUnicode_InternFromString("no_grad");
    s_op = PyUnicode_InternFromString("op");
    s_backward = PyUnicode_InternFromString("backward");
    for (int k = 0; k < 4; k++)
        s_kinds[k] = PyUnicode_FromOrdinal("fibc"[k]);
    ZERO = PyLong_FromLong(0);
    ONE = PyLong_FromLong(1);
    no_numbers = PyTuple_New(0);
    if (!s_op || !s_backward || !s_kinds[0] || !s_kinds[1] || !s_kinds[2] || !s_kinds[3] || !s_flushes || !s_hits || !s_simple || !s_state || !s_pattern || !s_derivative || !s_default || !s_no_grad || !s_gradient || !s_ready || !s_check || !s_casts || !ZERO || !ONE || !no_numbers)
        return NULL;
    if (PyType_Ready(&StateType) < 0 || ready_functions() < 0 || PyType_Ready(&GradientType) < 0)
        return NULL;
    PyObject *m = PyModule_Create(&definition);
    if (m == NULL)
        return NULL;
    if (PyModule_AddObjectRef(m, "State", (PyObject *)&StateType) < 0 || PyModule_AddObjectRef(m, "Function", (PyObject *)&FunctionType) < 0 ||
        PyModule_AddObjectRef(m, "Builtin", (PyObject *)&BuiltinType) < 0 ||
        PyModule_AddObjectRef(m, "Gradient", (PyObject *)&GradientType) < 0 ||
        PyModule_AddStringConstant(m, "source", SOURCE) < 0) {
        Py_DECREF(m);
        return NULL;
    }
    return m;
}
