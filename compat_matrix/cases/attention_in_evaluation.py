"""Attention where nothing is to be differentiated: what torch's kernels make of masks, of `is_causal`, of rows that see nothing, of hooks."""

import math

from compat_matrix.case import attempt, case


def filled(torch, module):
    with torch.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_(torch.sin(torch.arange(float(p.numel())) + i).view(p.shape) * 0.5)
    return module.eval()


def shown(x):
    if isinstance(x, tuple):
        return [shown(y) for y in x]
    if not hasattr(x, "shape"):
        return x
    return list(x.shape), [None if math.isnan(v) else round(v, 3) for v in x.flatten().tolist()], x.is_contiguous()


def inputs(torch):
    x = torch.cos(torch.arange(24.0)).view(2, 3, 4)
    causal = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
    heads = torch.zeros(4, 3, 3, dtype=torch.bool)
    heads[0, 0] = True
    return x, causal, heads, torch.tensor([[False, False, True], [True, True, True]]), torch.tensor([[False, False, True], [False, True, True]])


def tried(f, *args, **kwargs):
    try:
        return shown(f(*args, **kwargs))
    except (RuntimeError, AssertionError) as e:
        return type(e).__name__, str(e)


@case("attention_in_evaluation.masks")
def _(torch):
    x, causal, heads, padding, _ = inputs(torch)
    m = filled(torch, torch.nn.MultiheadAttention(4, 2, batch_first=True))
    with torch.no_grad():
        for name, more in (("causal", {"is_causal": True}), ("wrong", {"attn_mask": ~causal, "is_causal": True}), ("padding", {"key_padding_mask": padding}),
                           ("both", {"key_padding_mask": padding, "attn_mask": causal}), ("heads", {"attn_mask": heads}),
                           ("four", {"attn_mask": causal[None, None]}), ("float", {"attn_mask": torch.zeros(3, 3)}),
                           ("bad", {"attn_mask": causal[:2, :2]}), ("bad padding", {"key_padding_mask": padding[:, :2]}), ("bad heads", {"attn_mask": heads[:3]})):
            yield name, tried(m, x, x, x, **more), tried(m, x, x, x, need_weights=False, **more), tried(m, x, x, x, average_attn_weights=False, **more)


@case("attention_in_evaluation.conditions")
def _(torch):
    x, causal, *_ = inputs(torch)
    m = filled(torch, torch.nn.MultiheadAttention(4, 2, batch_first=True))

    def asked(m=m, x=x):
        return isinstance(tried(m, x, x, x, is_causal=True), list)  # only the kernel takes this without a mask

    yield "grad", asked()
    with torch.no_grad():
        yield "no grad", asked()
        yield "unbatched", asked(x=x[0])
        for name, more in (("odd", {"num_heads": 1}), ("second", {"batch_first": False}), ("plain", {"bias": False}), ("kv", {"add_bias_kv": True}),
                           ("zero", {"add_zero_attn": True})):
            yield name, asked(filled(torch, torch.nn.MultiheadAttention(**{"embed_dim": 4, "num_heads": 2, "batch_first": True, **more})))
        m.train()
        yield "training", asked()
        m.eval()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            yield "off", asked()
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
        calls = []
        handle = m.out_proj.register_forward_hook(lambda *args: calls.append(1))
        yield "hooked", asked(), calls
        handle.remove()
    m.requires_grad_(False)
    yield "frozen", asked()
    yield "input", asked(x=x.clone().requires_grad_())


@case("attention_in_evaluation.layer")
def _(torch):
    x, causal, heads, padding, _ = inputs(torch)
    numbers = torch.arange(9.0).view(3, 3) / 4
    for more in ({}, {"norm_first": True, "activation": "gelu"}, {"bias": False}):
        m = filled(torch, torch.nn.TransformerEncoderLayer(4, 2, 5, batch_first=True, **more))
        for grad in (False, True):
            with torch.set_grad_enabled(grad):
                for name, asked in (("causal", {"is_causal": True}), ("wrong", {"src_mask": ~causal, "is_causal": True}), ("numbers", {"src_mask": numbers}),
                                    ("padding", {"src_key_padding_mask": padding}), ("both", {"src_mask": causal, "src_key_padding_mask": padding}),
                                    ("heads", {"src_mask": heads}), ("bad", {"src_mask": causal[:2, :2]})):
                    yield f"{sorted(more)} {grad} {name}", tried(m, x, **asked)
    m = filled(torch, torch.nn.TransformerEncoderLayer(4, 2, 5, batch_first=True))
    calls = []
    m.linear1.register_forward_hook(lambda *args: calls.append(1))
    with torch.no_grad():
        yield "hooked", tried(m, x, is_causal=True), calls


@case("attention_in_evaluation.encoder")
def _(torch):
    x, causal, _, whole, padding = inputs(torch)
    between = torch.tensor([[False, True, False], [False, False, False]])
    layer = filled(torch, torch.nn.TransformerEncoderLayer(4, 2, 5, batch_first=True))
    for more in ({}, {"enable_nested_tensor": False}, {"mask_check": False}):
        m = filled(torch, torch.nn.TransformerEncoder(layer, 2, **more))
        for grad in (False, True):
            with torch.set_grad_enabled(grad):
                for name, mask in (("end", padding), ("row", whole), ("between", between), ("short", padding[:, :2]), ("numbers", torch.arange(6.0).view(2, 3))):
                    yield f"{sorted(more)} {grad} {name}", tried(m, x, src_key_padding_mask=mask), tried(m, x, mask=causal, src_key_padding_mask=mask)


@case("attention_in_evaluation.merge_masks")
def _(torch):
    x, causal, heads, padding, _ = inputs(torch)
    m = torch.nn.MultiheadAttention(4, 2, batch_first=True)
    for n, (a, b) in enumerate(((None, None), (causal, None), (None, padding), (causal, padding), (heads, padding), (heads, None))):
        mask, kind = m.merge_masks(a, b, x)
        yield n, None if mask is None else (mask.tolist(), mask.stride()), kind


@case("attention_in_evaluation.kernel")
def _(torch):
    f = torch._native_multi_head_attention
    x, w, b, o, c = torch.ones(2, 3, 4), torch.ones(12, 4), torch.ones(12), torch.ones(4, 4), torch.ones(4)
    none = torch.zeros(3, 3, dtype=torch.bool)
    for n, call in enumerate((lambda: f(x[0], x[0], x[0], 4, 2, w, b, o, c), lambda: f(x, x, x, 4, 3, w, b, o, c), lambda: f(x, x, x, 4, 2, w[:6], b, o, c),
                              lambda: f(x, x, x, 4, 2, w, b[:6], o, c), lambda: f(x, x[:1], x, 4, 2, w, b, o, c), lambda: f(x, x, x, 4, 2, w, b, o, c, none),
                              lambda: f(x, x, x, 4, 2, w, b, o, c, none, True, True, 7), lambda: f(x, x, x, 4, 2, w, b, o, c, none[:2, :2], True, True, 0),
                              lambda: f(x, x, x, 4, 2, w, b, o, c, none, True, True, 2), lambda: f(x, x, x, 4, 2, w, b, o, c, none, False, True, 1))):
        yield n, attempt(call)
    yield "values", tried(f, x, x, x, 4, 2, w, b, o, c, none, True, False, 0)


@case("attention_in_evaluation.turned_scores")
def _(torch):
    """A scale below zero, by the kernel and by the composition of simpler operators."""
    F, attention = torch.nn.functional, torch.nn.attention
    q, k, v = (torch.linspace(-1, 1, 12, dtype=torch.float64).sin().reshape(1, 1, 3, 4).roll(i, -1).requires_grad_() for i in range(3))
    for name, more in (("plain", {}), ("bools", {"attn_mask": torch.ones(3, 3).tril().bool()}), ("numbers", {"attn_mask": torch.arange(9.0).double().reshape(3, 3)})):
        for kernel in (attention.SDPBackend.FLASH_ATTENTION, attention.SDPBackend.MATH):
            with attention.sdpa_kernel(kernel):
                out = F.scaled_dot_product_attention(q, k, v, scale=-0.7, **more)
            yield f"{name}, {kernel.name}", out, torch.autograd.grad(out.square().sum(), (q, k, v))
