/* Which nodes of an open tape are dead (lifetimes.py). */

/* Append a slot of a tape and what is known about it to a buffer. */
static inline char *noted(char *at, PyObject *slot, char mark)
{
    int32_t n = (int32_t)PyLong_AsLong(slot);
    memcpy(at, &n, sizeof n);
    at[sizeof n] = mark;
    return at + sizeof n + 1;
}

/* attached(tape, dying): what decides which nodes of an open tape are dead, as bytes: the values that somebody holds, the nodes with something attached,
   and what of it is held; None where nothing is attached (lifetimes.py).  dying: slot of a Value that has one holder who is about to be gone, or None. */
static PyObject *speed_attached(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *tape = args[0], *values = SLOT(tape, tape_values), *contexts = SLOT(tape, tape_contexts), *extra = SLOT(tape, tape_extra), *key, *found, *target;
    Py_ssize_t n = PyList_GET_SIZE(values), most = n + 5 * (PyDict_GET_SIZE(contexts) + PyDict_GET_SIZE(extra)), at = 0;
    Py_ssize_t dying = args[1] == Py_None ? -1 : PyLong_AsSsize_t(args[1]);
    int nodes = 0;
    PyObject *out = PyBytes_FromStringAndSize(NULL, most);
    if (out == NULL)
        return NULL;
    char *bytes = PyBytes_AS_STRING(out), *end = bytes + n;
    for (Py_ssize_t i = 0; i < n; i++)
        bytes[i] = Py_REFCNT(PyList_GET_ITEM(values, i)) > 1 + (i == dying);
    while (PyDict_Next(contexts, &at, &key, &found)) {
        end = noted(end, key, Py_REFCNT(found) > 1 ? 1 : 0);
        nodes = 1;
    }
    at = 0;
    while (PyDict_Next(extra, &at, &key, &found)) {
        if (!PyTuple_CheckExact(key)) {
            end = noted(end, key, 2);
            nodes = 1;
        }
        else if ((target = target_of(found)) != NULL) {
            Py_DECREF(target);
            end = noted(end, PyTuple_GET_ITEM(key, 1), 3);
        }
    }
    if (PyErr_Occurred() || !nodes) {
        Py_DECREF(out);
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    return _PyBytes_Resize(&out, end - bytes) < 0 ? NULL : out;
}
