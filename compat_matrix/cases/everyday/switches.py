"""Switches and small modules that scripts name at their top: kernels of attention, TF32, pickled parameters."""

import copy
import importlib
import pickle
import warnings

from compat_matrix.case import attempt, case, warned


@case("everyday.switches.kernels of attention")
def _(torch):
    c, attention = torch.backends.cuda, torch.nn.attention

    def state():
        return c.flash_sdp_enabled(), c.math_sdp_enabled(), c.mem_efficient_sdp_enabled(), c.cudnn_sdp_enabled(), c.fp16_bf16_reduction_math_sdp_allowed()

    yield "at first", state()
    c.enable_flash_sdp(False)
    yield "without flash", state()
    c.enable_flash_sdp(True)
    with attention.sdpa_kernel(attention.SDPBackend.MATH) as inside:
        yield "math", inside, state()
        with attention.sdpa_kernel([attention.SDPBackend.FLASH_ATTENTION, attention.SDPBackend.MATH]):
            yield "two", state()
    yield "after", state()

    def old():
        with c.sdp_kernel(enable_flash=False):
            return state()

    yield "old", warned(old), state()
    yield "no bool", attempt(lambda: c.enable_math_sdp(1))
    yield "there", c.is_flash_attention_available(), c.is_ck_sdpa_available()


@case("everyday.switches.libraries")
def _(torch):
    c = torch.backends.cuda
    yield "linalg", repr(c.preferred_linalg_library()), attempt(lambda: c.preferred_linalg_library("magma")), attempt(lambda: c.preferred_linalg_library("foo"))
    yield "blas", repr(c.preferred_blas_library()), attempt(lambda: c.preferred_blas_library("cublaslt")), repr(c.preferred_rocm_fa_library())
    yield "plans", attempt(lambda: c.cufft_plan_cache.size), attempt(lambda: c.cufft_plan_cache[0])
    yield "errors", torch.cuda.OutOfMemoryError is torch.OutOfMemoryError, issubclass(torch.cuda.OutOfMemoryError, RuntimeError)


@case("everyday.switches.tf32")
def _(torch):
    m = torch.backends.cuda.matmul
    try:
        m.allow_tf32 = True
        yield "allowed", m.allow_tf32, torch.get_float32_matmul_precision(), m.fp32_precision
        m.allow_tf32 = False
        yield "not", m.allow_tf32, torch.get_float32_matmul_precision(), m.fp32_precision
        yield "no bool", attempt(lambda: setattr(m, "allow_tf32", 3))
        yield "unknown", attempt(lambda: m.foo), attempt(lambda: setattr(m, "foo", 1))
        m.allow_fp16_accumulation = True
        yield "kept", m.allow_fp16_accumulation, m.allow_bf16_reduced_precision_reduction
    finally:
        m.allow_fp16_accumulation = False


def _scopes(b):
    return {"all": b, "cuda": b.cudnn, "conv": b.cudnn.conv, "rnn": b.cudnn.rnn, "products": b.cuda.matmul, "mkldnn": b.mkldnn,
            "mkldnn conv": b.mkldnn.conv, "mkldnn rnn": b.mkldnn.rnn, "mkldnn products": b.mkldnn.matmul}


def _precisions(torch):
    b = torch.backends
    return ({name: scope.fp32_precision for name, scope in _scopes(b).items()}, attempt(lambda: b.cuda.matmul.allow_tf32), attempt(lambda: b.cudnn.allow_tf32),
            b.mkldnn.allow_tf32, attempt(torch.get_float32_matmul_precision))


def _forget(torch):
    """As good as at first."""
    for scope in _scopes(torch.backends).values():
        scope.fp32_precision = "none"
    torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = True, False, False
    torch.backends.mkldnn.enabled, torch.backends.mkldnn.deterministic = True, False
    torch.backends.cudnn.allow_tf32 = True
    torch.set_float32_matmul_precision("highest")


@case("everyday.switches.precisions")
def _(torch):
    b = torch.backends
    _forget(torch)
    yield "at first", _precisions(torch)
    for name, scope in _scopes(b).items():
        for word in ("ieee", "tf32", "bf16", "none", "fp16", 3):
            yield f"{name} {word}", attempt(lambda: setattr(scope, "fp32_precision", word)), _precisions(torch)
    _forget(torch)
    with b.flags("tf32"):
        yield "for a while", _precisions(torch)
    yield "after", _precisions(torch)


@case("everyday.switches.older precisions")
def _(torch):
    b = torch.backends
    try:
        for name in ("high", "medium", "highest", "wrong", 3):
            yield f"{name}", warned(lambda: attempt(lambda: torch.set_float32_matmul_precision(name))), _precisions(torch)
        for on in (True, False):
            b.cuda.matmul.allow_tf32 = on
            yield f"products {on}", _precisions(torch)
            b.cudnn.allow_tf32 = on
            yield f"cudnn {on}", _precisions(torch)
            b.mkldnn.allow_tf32 = on
            yield f"mkldnn {on}", _precisions(torch)
        b.mkldnn.matmul.fp32_precision = "bf16"
        yield "mixed", _precisions(torch)
        for name in ("cuda.matmul.allow_tf32", "cudnn.allow_tf32", "mkldnn.allow_tf32"):
            *path, last = name.split(".")
            home = b
            for part in path:
                home = getattr(home, part)
            yield f"{name} of no bool", attempt(lambda: setattr(home, last, 3))
    finally:
        _forget(torch)


@case("everyday.switches.flags")
def _(torch):
    b = torch.backends
    _forget(torch)
    yield "at first", b.set_flags(), b.cudnn.set_flags(), b.mkldnn.set_flags(), b.miopen.set_flags(), b.flags_frozen()
    try:
        yield "set", b.cudnn.set_flags(False, True, 5, True, False, "ieee"), b.cudnn.set_flags(), b.cudnn.fp32_precision, b.cudnn.conv.fp32_precision
        yield "set too", b.mkldnn.set_flags(False, True, False, "bf16"), b.mkldnn.set_flags(), b.mkldnn.fp32_precision, b.miopen.set_flags(True), b.miopen.immediate
    finally:
        b.cudnn.set_flags(True, False, None, False, True, "none")
        b.mkldnn.set_flags(True, False)
        b.miopen.set_flags(False)
        _forget(torch)
    with b.cudnn.flags(enabled=False, deterministic=True):
        yield "for a while", b.cudnn.enabled, b.cudnn.benchmark, b.cudnn.deterministic, b.cudnn.allow_tf32
    with b.mkldnn.flags(), b.miopen.flags(True):
        yield "others for a while", b.mkldnn.enabled, b.mkldnn.deterministic, b.miopen.immediate
    yield "after", b.cudnn.enabled, b.cudnn.deterministic, b.mkldnn.enabled, b.miopen.immediate, b.cudnn.depthwise_kernel
    for home, names in ((b.cudnn, ("enabled", "benchmark", "deterministic", "depthwise_kernel")), (b.mkldnn, ("enabled", "deterministic")), (b.miopen, ("immediate",))):
        for name in names:
            yield f"{home.__name__.rpartition('.')[2]} {name}", attempt(lambda: setattr(home, name, "x")), attempt(lambda: setattr(home, name, 3))
    _forget(torch)
    yield "unknown", attempt(lambda: b.cudnn.conv.nope), attempt(lambda: setattr(b.cudnn.conv, "nope", 1)), type(b).__name__, type(b.cudnn).__name__
    yield "silent", b.mkl.verbose(b.mkl.VERBOSE_OFF).__enter__(), b.mkldnn.verbose(b.mkldnn.VERBOSE_OFF).__enter__(), b.mkldnn.VERBOSE_ON_CREATION
    yield "Apple's", attempt(lambda: b.mps.is_macos_or_newer(13, 0)), attempt(lambda: b.mps.is_macos13_or_newer())
    yield "acceptable", b.cudnn.is_acceptable(torch.ones(2)), {str(d) for d in b.cudnn.CUDNN_TENSOR_DTYPES} == {"torch.float16", "torch.float32", "torch.float64"}


@case("everyday.switches.sums of products")
def _(torch):
    m, name = torch.backends.cuda.matmul, "allow_fp16_reduced_precision_reduction"
    for value in (3, (), (True,), (True, False), (False, False), [False], (1,), (True, 2), (True, True, True), None, False, True):
        yield f"{value}", attempt(lambda: setattr(m, name, value)), getattr(m, name), getattr(m, f"{name}_split_k"), m.allow_bf16_reduced_precision_reduction
    yield "others", attempt(lambda: setattr(m, "allow_fp16_accumulation", 3)), attempt(lambda: setattr(m, f"{name}_split_k", True))


@case("everyday.switches.attention asked about")
def _(torch):
    c, q = torch.backends.cuda, torch.ones(1, 2, 3, 4)
    p = c.SDPAParams(q, q, q, None, 0.5, True, False)
    yield "fields", [k for k in dir(p) if not k.startswith("_")], p.dropout, p.is_causal, p.enable_gqa, p.attn_mask, p.query.shape
    yield "answers", c.can_use_flash_attention(p), c.can_use_efficient_attention(p), c.can_use_cudnn_attention(p), c.SDPBackend is torch.nn.attention.SDPBackend


@case("everyday.switches.causal bias")
def _(torch):
    B = importlib.import_module(f"{torch.__name__}.nn.attention.bias")
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, n, 4, requires_grad=True) for n in (3, 5, 5))
    attend = torch.nn.functional.scaled_dot_product_attention
    for name in ("causal_upper_left", "causal_lower_right"):
        for length in (3, 5):
            bias = getattr(B, name)(3, length)
            out = attend(q, k[:, :, :length], v[:, :, :length], attn_mask=bias)
            yield f"{name} {length}", type(bias).__name__, int(bias.variant), repr(bias), out, torch.autograd.grad(out.pow(2).sum(), (q, v))
    yield "wrong", attempt(lambda: B.causal_upper_left(2, 3, 4)), attempt(lambda: attend(q, q, q, attn_mask=B.causal_lower_right(3, 3), is_causal=True))
    yield "nan", warned(lambda: repr(B.causal_lower_right(3, 2)))


@case("everyday.switches.derived parameters")
def _(torch):
    class Marked(torch.nn.Parameter):
        def __new__(cls, data, tag="none"):
            p = torch.Tensor._make_subclass(cls, data, True)
            p.tag = tag
            return p

    p = Marked(torch.ones(2), tag="mine")
    yield "itself", type(p).__name__, p.tag, isinstance(p, torch.nn.Parameter)
    again = pickle.loads(pickle.dumps(p))
    yield "pickled", type(again) is torch.nn.Parameter, again.tag, again
    twin = copy.deepcopy(p)
    yield "copied", type(twin).__name__, twin.tag
    linear = torch.nn.Linear(2, 2)
    linear.weight.note = [1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        back = pickle.loads(pickle.dumps(linear))
    yield "module", back.weight.note, torch.equal(back.weight, linear.weight), back.weight.requires_grad
