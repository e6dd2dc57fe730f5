/* rng_math.box_muller for float32: the same operations in the same order, each rounded as there.  Compiled without contraction (setup.py), so that only what says
   fmaf is fused. */

static const float LOG_POLYNOMIAL[] = {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                                       -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1};
static const float SIN_POLYNOMIAL[] = {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1};
static const float COS_POLYNOMIAL[] = {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2};
static const float QUARTER_PI[] = {-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8};
static const float LN2_HIGH = 0.693359375, LN2_LOW = -2.12194440e-4, SQRT_HALF = 0.707106781186547524, FOUR_OVER_PI = 1.27323954473516,
                   TWO_PI = 6.283185307179586;

#if defined(__GNUC__)
#define INTO_CALLER static inline __attribute__((always_inline))
#else
#define INTO_CALLER static inline
#endif

INTO_CALLER uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INTO_CALLER float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INTO_CALLER float horner(const float *coefficients, int n, float x)
{
    float value = coefficients[0];
    for (int i = 1; i < n; i++)
        value = fmaf(value, x, coefficients[i]);
    return value;
}

/* rng_math.log_f32 */
INTO_CALLER float log_of(float x)
{
    uint32_t bits = bits_of(x);
    float mantissa = float_of((bits & 0x007FFFFFu) | 0x3F000000u), small = mantissa < SQRT_HALF ? 1.0f : 0.0f;
    float exponent = (float)((int32_t)(bits >> 23) - 126) - small, r = (mantissa - 1.0f) + mantissa * small, square = r * r;
    float y = horner(LOG_POLYNOMIAL, 9, r) * r;
    y = fmaf(y, square, exponent * LN2_LOW) - square * 0.5f;
    return (r + y) + exponent * LN2_HIGH;
}

/* rng_math.cis_f32 */
INTO_CALLER void cis_of(float angle, float *cosine, float *sine)
{
    int32_t octant = ((int32_t)(angle * FOUR_OVER_PI) + 1) & ~1;
    float turns = (float)octant;
    for (int i = 0; i < 3; i++)
        angle = fmaf(turns, QUARTER_PI[i], angle);
    float square = angle * angle, near_one = horner(COS_POLYNOMIAL, 3, square) * square, near_zero = horner(SIN_POLYNOMIAL, 3, square) * square;
    near_one = fmaf(near_one, square, square * -0.5f) + 1.0f;
    near_zero = fmaf(near_zero, angle, angle);
    uint32_t one = bits_of(near_one), zero = bits_of(near_zero), exchange = (one ^ zero) & -(((uint32_t)octant >> 1) & 1u);
    *cosine = float_of(one ^ exchange ^ ((((uint32_t)octant + 2u) & 4u) << 29));
    *sine = float_of(zero ^ exchange ^ (((uint32_t)octant & 4u) << 29));
}

INTO_CALLER float affine_of(float x, float scale, float shift)
{
    return scale == 1.0f || shift == 0.0f ? x * scale + shift : fmaf(x, scale, shift);
}

INTO_CALLER void blocks(const float *uniform, float *out, Py_ssize_t n, float mean, float std)
{
    for (; n >= 16; n -= 16, uniform += 16, out += 16)
        for (int k = 0; k < 8; k++) {
            float radius = sqrtf(-2.0f * log_of(1.0f - uniform[k])), cosine, sine;
            cis_of(TWO_PI * uniform[8 + k], &cosine, &sine);
            out[k] = affine_of(radius * cosine, std, mean);
            out[8 + k] = affine_of(radius * sine, std, mean);
        }
}

static void blocks_anywhere(const float *uniform, float *out, Py_ssize_t n, float mean, float std)
{
    blocks(uniform, out, n, mean, std);
}

#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void blocks_fused(const float *uniform, float *out, Py_ssize_t n, float mean, float std)
{
    blocks(uniform, out, n, mean, std);
}
#define HAS_FUSED (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define blocks_fused blocks_anywhere
#define HAS_FUSED 0
#endif

/* box_muller(uniform, out, mean, std): float32 buffers, of whole blocks of 16 */
static PyObject *speed_box_muller(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    Py_buffer uniform, out;
    double mean = n == 4 ? PyFloat_AsDouble(args[2]) : 0, std = n == 4 ? PyFloat_AsDouble(args[3]) : 0;
    if (n != 4 || PyErr_Occurred())
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "box_muller takes 4 arguments");
    if (PyObject_GetBuffer(args[0], &uniform, PyBUF_SIMPLE) < 0)
        return NULL;
    if (PyObject_GetBuffer(args[1], &out, PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&uniform);
        return NULL;
    }
    int fits = out.len == uniform.len && out.len % (16 * sizeof(float)) == 0;
    if (fits)
        (HAS_FUSED ? blocks_fused : blocks_anywhere)(uniform.buf, out.buf, out.len / (Py_ssize_t)sizeof(float), (float)mean, (float)std);
    PyBuffer_Release(&uniform);
    PyBuffer_Release(&out);
    if (!fits)
        return PyErr_Format(PyExc_ValueError, "box_muller: blocks of 16 float32 values, as many out as in");
    Py_RETURN_NONE;
}

static const struct {
    const char *name;
    double (*function)(double);
} LIBM[] = {{"log", log}, {"log1p", log1p}, {"exp", exp}, {"sin", sin}, {"cos", cos}, {"tan", tan}};

/* libm(name, x, out): a function of the C library on each element of a float64 buffer */
static PyObject *speed_libm(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    Py_buffer x, out;
    double (*function)(double) = NULL;
    const char *name = n == 3 ? PyUnicode_AsUTF8(args[0]) : NULL;
    for (size_t i = 0; name && i < sizeof LIBM / sizeof *LIBM; i++)
        if (!strcmp(name, LIBM[i].name))
            function = LIBM[i].function;
    if (!function)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "libm takes the name of a function and two buffers");
    if (PyObject_GetBuffer(args[1], &x, PyBUF_SIMPLE) < 0)
        return NULL;
    if (PyObject_GetBuffer(args[2], &out, PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&x);
        return NULL;
    }
    int fits = out.len == x.len && out.len % sizeof(double) == 0;
    for (Py_ssize_t i = 0; fits && i < out.len / (Py_ssize_t)sizeof(double); i++)
        ((double *)out.buf)[i] = function(((const double *)x.buf)[i]);
    PyBuffer_Release(&x);
    PyBuffer_Release(&out);
    if (!fits)
        return PyErr_Format(PyExc_ValueError, "libm: as many float64 values out as in");
    Py_RETURN_NONE;
}
