/* What stands in the place of Python functions: the functions of the op table (bind.py, operators.py) and the property `grad`. */

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
    if (found == NULL && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Clear(); /* not hashable: the general way explains */
    Py_DECREF(key);
    return found;
}

/* A call by its recipe; NULL without an error where the general way has to go. */
static PyObject *by_recipe(PyObject *found, PyObject *const *args, int write)
{
    PyObject *spec = PyTuple_GET_ITEM(found, 0), *places = PyTuple_GET_ITEM(found, 2), *flat[MOST], *out = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(places), k = 0;
    if (n > MOST || n < 1)
        return NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        flat[i] = args[PyLong_AsSsize_t(PyTuple_GET_ITEM(places, i))];
    if (write)
        return SLOT(spec, spec_hot) == Py_True && flat[0] == args[0] ? twin(spec, flat, (int)n) : NULL;
    if (SLOT(spec, spec_single_view) == Py_True) {
        if (n > 2 || !PyObject_TypeCheck(flat[0], Tensor) || (n == 2 && PyObject_TypeCheck(flat[1], Tensor)))
            return NULL;
        return view_by(spec, flat[0], n == 2 ? flat[1] : NULL);
    }
    int guarded = SLOT(spec, spec_guarded) == Py_True;
    if (!guarded && SLOT(spec, spec_hot) != Py_True)
        return NULL;
    for (; k < n; k++) {
        flat[k] = PyObject_TypeCheck(flat[k], Tensor) ? read_value(flat[k]) : Py_NewRef(flat[k]);
        if (flat[k] == NULL)
            break;
    }
    if (k == n)
        out = wrap(record(spec, flat, (int)n));
    if (out != NULL && SLOT(spec, spec_lies) != Py_None) {
        PyObject *given[MOST];
        for (Py_ssize_t i = 0; i < n; i++)
            given[i] = args[PyLong_AsSsize_t(PyTuple_GET_ITEM(places, i))];
        out = laid(out, spec, given, n);
    }
    if (guarded && out != NULL) {
        PyObject *r = PyObject_CallOneArg(py_note, TENSOR(out)->v);
        if (r == NULL)
            Py_CLEAR(out);
        Py_XDECREF(r);
    }
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
        if (start == -1 && PyErr_Occurred()) {
            PyErr_Clear(); /* too big an integer: the general way explains */
            return NULL;
        }
        if (start < -n || start >= n)
            return NULL;
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
        return n == 2 && is_plain(args[0]) && (PyLong_CheckExact(args[1]) || PySlice_Check(args[1])) ? item(f, args[0], args[1]) : NULL;
    if (f->role == WRITE && n > 0 && !is_plain(args[0]))
        return NULL;
    if (f->role == WRITE && kwnames == NULL && (n == 1 || (n == 2 && args[1] != Py_None))) {
        PyObject *spec = PyDict_GetItemWithError(f->known, n == 1 ? (PyObject *)Py_TYPE(Py_None) : (PyObject *)Py_TYPE(args[1]));
        if (spec != NULL)
            return twin(spec, (PyObject **)args, (int)n);
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
        if (n != 2 || kwnames != NULL)
            return NULL;
        swapped[0] = args[1], swapped[1] = args[0];
        args = swapped;
    }
    PyObject *found = recipe(f, args, n, kwnames);
    if (found == NULL)
        return NULL;
    Py_INCREF(found);
    out = by_recipe(found, args, f->role == WRITE);
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

/* A function that instances do not bind, as PyTorch's built-in ones: `class C: act = torch.tanh` gives no method. */
static PyTypeObject BuiltinType;

static int ready_functions(void)
{
    BuiltinType = FunctionType;
    BuiltinType.tp_name = "_torchlike_speed.Builtin";
    BuiltinType.tp_flags &= ~Py_TPFLAGS_METHOD_DESCRIPTOR;
    BuiltinType.tp_descr_get = NULL;
    return PyType_Ready(&FunctionType) < 0 || PyType_Ready(&BuiltinType) < 0 ? -1 : 0;
}

/* Gradient: the property `grad`; a gradient that is there is read, None is written.  What lies in memory in its own way, or is a view, goes the general way,
   which sees to the layout of the gradient. */

typedef struct {
    PyObject_HEAD
    PyObject *general;
} Gradient;

static PyObject *gradient_get(PyObject *self, PyObject *t, PyObject *type)
{
    if (t == NULL || t == Py_None || !PyObject_TypeCheck(t, &StateType))
        return Py_NewRef(self);
    PyObject *leaf = TENSOR(t)->leaf;
    if (!IS_NONE(leaf) && SLOT(leaf, leaf_grad) != Py_None && IS_NONE(TENSOR(t)->layout) && IS_NONE(TENSOR(t)->view))
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
