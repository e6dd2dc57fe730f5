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
