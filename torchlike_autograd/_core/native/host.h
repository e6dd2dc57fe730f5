/* Running the steps of a program one by one on the host (program.run_step and plan.Stage.run as execute.op_by_op calls them). */

static PyObject *py_call_on_host, *py_pull_on_host, *py_number_of, *py_add_arrays, *s_backward;
static PyTypeObject *Pullback;
static Py_ssize_t form_host;

/* What runs: arrays by slot, the runtime numbers, and, where memory counts, the slots whose gradients go out of the stage that runs. */
typedef struct {
    PyObject *arrays, *floats, *ints, *outs;
} Running;

static PyObject *found(PyObject *dict, PyObject *slot) /* borrowed */
{
    PyObject *x = PyDict_GetItemWithError(dict, slot);
    if (x == NULL && !PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, slot);
    return x;
}

/* What an input of a step names, new. */
static PyObject *input_of(Running *now, PyObject *place)
{
    if (PyTuple_CheckExact(place))
        return PyObject_CallFunctionObjArgs(py_number_of, place, now->floats, now->ints, NULL);
    return Py_XNewRef(found(now->arrays, place));
}

/* The list of what n references hold, which it takes. */
static PyObject *list_of(PyObject **ins, Py_ssize_t n)
{
    PyObject *out = PyList_New(n);
    for (Py_ssize_t i = 0; i < n; i++)
        if (out != NULL)
            PyList_SET_ITEM(out, i, ins[i]);
        else
            Py_DECREF(ins[i]);
    return out;
}

/* The results of a form, new, as a list or a tuple, of `given` gradients and of other inputs, whose references are taken. */
static PyObject *run_form(PyObject *form, PyObject **ins, Py_ssize_t given, Py_ssize_t n, int pulls)
{
    PyObject *out = NULL, *run = PyObject_TypeCheck(form, Form) ? SLOT(form, form_host) : NULL;
    if (run != NULL && PyFunction_Check(run)) {
        out = PyObject_Vectorcall(run, ins, n, NULL);
        for (Py_ssize_t i = 0; i < n; i++)
            Py_DECREF(ins[i]);
    }
    else {
        PyObject *gs = list_of(ins, given), *rest = list_of(ins + given, n - given);
        if (gs != NULL && rest != NULL)
            out = pulls ? PyObject_CallFunctionObjArgs(py_pull_on_host, form, gs, rest, NULL) : PyObject_CallFunctionObjArgs(py_call_on_host, form, rest, NULL);
        Py_XDECREF(gs);
        Py_XDECREF(rest);
    }
    if (out != NULL && !PyList_CheckExact(out))
        Py_SETREF(out, PySequence_Fast(out, "results are a sequence"));
    return out;
}

/* arrays[first], arrays[first + 1], ... = made, whose reference is taken */
static int put_results(PyObject *arrays, Py_ssize_t first, PyObject *made)
{
    int bad = made == NULL;
    for (Py_ssize_t i = 0; !bad && i < PySequence_Fast_GET_SIZE(made); i++) {
        PyObject *slot = PyLong_FromSsize_t(first + i);
        bad = slot == NULL || PyDict_SetItem(arrays, slot, PySequence_Fast_GET_ITEM(made, i)) < 0;
        Py_XDECREF(slot);
    }
    Py_XDECREF(made);
    return bad ? -1 : 0;
}

static int run_op(PyObject *step, Running *now)
{
    PyObject *places = SLOT(step, step_ins);
    Py_ssize_t n = PyTuple_GET_SIZE(places), k = 0;
    PyObject **ins = PyMem_Malloc((n + 1) * sizeof *ins);
    if (ins == NULL)
        return PyErr_NoMemory() == NULL ? -1 : 0;
    while (k < n && (ins[k] = input_of(now, PyTuple_GET_ITEM(places, k))) != NULL)
        k++;
    PyObject *made = k == n ? run_form(SLOT(step, step_form), ins, 0, n, 0) : NULL;
    if (k < n)
        while (k)
            Py_DECREF(ins[--k]);
    PyMem_Free(ins);
    return put_results(now->arrays, PyLong_AsSsize_t(SLOT(step, step_first)), made);
}

/* grads[slot] += g */
static int add_array(PyObject *grads, PyObject *slot, PyObject *g)
{
    PyObject *old = PyDict_GetItemWithError(grads, slot);
    if (old == NULL)
        return PyErr_Occurred() ? -1 : PyDict_SetItem(grads, slot, g);
    PyObject *sum = Py_TYPE(old) == Array && Py_TYPE(g) == Array ? PyNumber_Add(old, g) : PyObject_CallFunctionObjArgs(py_add_arrays, old, g, NULL);
    int bad = sum == NULL || PyDict_SetItem(grads, slot, sum) < 0;
    Py_XDECREF(sum);
    return bad ? -1 : 0;
}

/* Forget the gradient of a slot that is none of `outs`. */
static int let_go(PyObject *grads, PyObject *outs, Py_ssize_t at)
{
    PyObject *slot = PyLong_FromSsize_t(at);
    int kept = slot == NULL ? -1 : PySequence_Contains(outs, slot);
    if (kept == 0)
        kept = PyDict_DelItem(grads, slot);
    Py_XDECREF(slot);
    return kept < 0 ? -1 : 0;
}

/* One node of a backward pass: gradients of its results in, of its inputs out. */
static int pull_on_host(PyObject *visit, PyObject *grads, Running *now)
{
    PyObject *step = SLOT(visit, visit_step), *form = SLOT(visit, visit_pull), *given = SLOT(visit, visit_given), *wanted = SLOT(visit, visit_wanted);
    PyObject *keep = SLOT(form, pull_keep), *places = SLOT(step, step_ins), *made = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(given), m = n + PyTuple_GET_SIZE(keep), first = PyLong_AsSsize_t(SLOT(step, step_first)), k = 0;
    PyObject **ins = PyMem_Malloc((m + 1) * sizeof *ins);
    if (ins == NULL)
        return PyErr_NoMemory() == NULL ? -1 : 0;
    for (; k < m; k++) {
        if (k < n) {
            PyObject *slot = PyLong_FromSsize_t(first + PyLong_AsSsize_t(PyTuple_GET_ITEM(given, k)));
            ins[k] = slot == NULL ? NULL : Py_XNewRef(found(grads, slot));
            Py_XDECREF(slot);
        }
        else
            ins[k] = input_of(now, PyTuple_GET_ITEM(places, PyLong_AsSsize_t(PyTuple_GET_ITEM(keep, k - n))));
        if (ins[k] == NULL)
            break;
    }
    if (k == m)
        made = run_form(form, ins, n, m, 1);
    else
        while (k)
            Py_DECREF(ins[--k]);
    PyMem_Free(ins);
    int bad = made == NULL;
    for (Py_ssize_t i = 0; !bad && now->outs != NULL && i < n; i++)
        bad = let_go(grads, now->outs, first + PyLong_AsSsize_t(PyTuple_GET_ITEM(given, i))) < 0;
    for (Py_ssize_t i = 0; !bad && i < PyTuple_GET_SIZE(wanted) && i < PySequence_Fast_GET_SIZE(made); i++)
        bad = add_array(grads, PyTuple_GET_ITEM(places, PyLong_AsSsize_t(PyTuple_GET_ITEM(wanted, i))), PySequence_Fast_GET_ITEM(made, i)) < 0;
    Py_XDECREF(made);
    return bad ? -1 : 0;
}

static int run_backward(PyObject *step, Running *now)
{
    PyObject *stage = SLOT(step, step_form), *places = SLOT(step, step_ins), *cots = SLOT(stage, stage_cots), *outs = SLOT(stage, stage_outs);
    PyObject *visits = SLOT(stage, stage_visits), *grads = PyDict_New(), *made = NULL;
    int bad = grads == NULL;
    now->outs = now->outs == NULL ? NULL : outs;
    for (Py_ssize_t i = 0; !bad && i < PyTuple_GET_SIZE(cots) && i < PyTuple_GET_SIZE(places); i++) {
        PyObject *g = input_of(now, PyTuple_GET_ITEM(places, i));
        bad = g == NULL || PyDict_SetItem(grads, PyTuple_GET_ITEM(cots, i), g) < 0;
        Py_XDECREF(g);
    }
    for (Py_ssize_t i = 0; !bad && i < PyList_GET_SIZE(visits); i++)
        bad = pull_on_host(PyList_GET_ITEM(visits, i), grads, now) < 0;
    if (!bad)
        made = PyList_New(PyTuple_GET_SIZE(outs));
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(outs); i++) {
        PyObject *g = found(grads, PyTuple_GET_ITEM(outs, i));
        if (g == NULL)
            Py_CLEAR(made);
        else
            PyList_SET_ITEM(made, i, Py_NewRef(g));
    }
    Py_XDECREF(grads);
    return put_results(now->arrays, PyLong_AsSsize_t(SLOT(step, step_first)), made);
}

/* Whether all pullbacks of a stage are of the one class whose slots are known here. */
static int known_stage(PyObject *stage)
{
    PyObject *visits = Py_IS_TYPE(stage, Stage) ? SLOT(stage, stage_visits) : NULL;
    if (visits == NULL || !PyList_CheckExact(visits))
        return 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(visits); i++)
        if (!PyObject_TypeCheck(SLOT(PyList_GET_ITEM(visits, i), visit_pull), Pullback))
            return 0;
    return 1;
}

/* run_on_host(steps, arrays, floats, ints, other, heavy): each step on `arrays` (slot -> array); other(step) runs those of further kinds; heavy: whether
   gradients inside a stage are let go after their use. */
static PyObject *speed_run_on_host(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *steps = args[0], *other = args[4];
    Running now = {args[1], args[2], args[3], args[5] == Py_True ? args[0] : NULL};
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(steps); i++) {
        PyObject *step = PyList_GET_ITEM(steps, i), *kind = SLOT(step, step_kind);
        int bad;
        if (kind == s_op)
            bad = run_op(step, &now) < 0;
        else if (kind == s_backward && known_stage(SLOT(step, step_form)))
            bad = run_backward(step, &now) < 0;
        else {
            PyObject *done = PyObject_CallOneArg(other, step);
            bad = done == NULL;
            Py_XDECREF(done);
        }
        if (bad)
            return NULL;
    }
    Py_RETURN_NONE;
}
