"""Attention, bags of embeddings, alignments: values, gradients, refusals."""

from compat_matrix.case import attempt, case, warned
from compat_matrix.cases.nn_ops import reals
from compat_matrix.probes import fails, probe, table

Q, K, V = reals(2, 2, 3, 4), reals(2, 2, 5, 4), reals(2, 2, 5, 4, low=-1.0)
M, MB = reals(3, 5), [[True, False, True, True, False], [False] * 5, [True] * 5]
W, I, O, IB = reals(4, 3), [0, 2, 1, 3, 2], [0, 2, 2], [[0, 1], [2, 3], [1, 1]]
P, T = reals(5, 2, 4), [[1, 2, 1], [3, 3, 2]]
S = {"q": Q, "k": K, "v": V}
SDP = "F.scaled_dot_product_attention"

rows = [(f"dot {n}", f"{SDP}({e})", {**S, "m": M, "b": MB}) for n, e in {
    "plain": "q, k, v", "causal": "q, k, v, is_causal=True", "bools": "q, k, v, b", "numbers": "q, k, v, m.detach()", "learned": "q, k, v, m", "scale": "q, k, v, scale=0.3",
    "three": "q[0], k[0], v[0]", "three causal": "q[0], k[0], v[0], is_causal=True", "two": "q[0, 0], k[0, 0], v[0, 0], b", "narrow": "q, k, v[..., :3]",
    "shared heads": "q, k[:, :1], v[:, :1], enable_gqa=True", "broadcast heads": "q, k[:, :1], v[:, :1]", "mask four": "q, k, v, m.detach().expand(2, 2, 3, 5)",
    "mask five": "q[0], k[0], v[0], m"}.items()]
rows += [("dot half", f"{SDP}(q.detach().half(), k.detach().half(), v.detach().half())", S), ("dot float32", f"{SDP}(q.detach().float(), k.detach().float(), v.detach().float())", S)]
rows += [(f"bag {n}", f"F.embedding_bag({e})", {"w": W, "i": I, "o": O, "p": IB, "s": reals(5), "order": 1}) for n, e in {
    "rows": "p, w", "mean": "i, w, o", "sum": "i, w, o, mode='sum'", "max": "i, w, o, mode='max'", "rows max": "p, w, mode='max'", "weights": "i, w, o, mode='sum', per_sample_weights=s",
    "padding": "i, w, o, mode='sum', padding_idx=2", "padding mean": "i, w, o, padding_idx=-2", "padding max": "i, w, o, mode='max', padding_idx=0",
    "frequency": "i, w, o, mode='sum', scale_grad_by_freq=True", "last": "i, w, torch.tensor([0, 2, 5]), include_last_offset=True", "int": "i.int(), w, o.int()",
    "nothing": "i[:0], w, o * 0"}.items()]
rows += [(f"ctc {n}", f"F.ctc_loss(x.log_softmax(2), {e})", {"x": P, "t": T, "order": 1}) for n, e in {
    "mean": "t, [5, 5], [3, 2]", "none": "t, [5, 4], [3, 2], reduction='none'", "sum": "t, [5, 5], [3, 2], reduction='sum'", "tensors": "t, torch.tensor([5, 4]), torch.tensor([3, 2])",
    "blank": "t.clamp(max=2), [5, 5], [3, 2], blank=3", "joined": "torch.tensor([1, 2, 1, 3, 3]), [5, 5], [3, 2]", "empty targets": "t, [5, 4], [0, 1], reduction='none'",
    "infinite": "t, [5, 2], [2, 2], reduction='none'", "infinite zero": "t, [5, 2], [2, 2], zero_infinity=True", "short": "t, [5, 1], [3, 1]"}.items()]
rows += [("ctc one", "F.ctc_loss(x[:, 0].log_softmax(1), t[0], torch.tensor(5), torch.tensor(3))", {"x": P, "t": T, "order": 1}),
         ("ctc unnormalized", "F.ctc_loss(x, t, [5, 5], [3, 2], reduction='sum')", {"x": P, "t": T, "order": 1}),
         ("ctc second", "F.ctc_loss(x, t, [5, 5], [3, 2], reduction='sum')", {"x": P, "t": T})]
rows += [(f"linear_cross_entropy {n}", f"F.linear_cross_entropy(x[0, :, :3], w, t[0, :2]{e})", {"x": P, "w": W, "t": T}) for n, e in {
    "plain": "", "fields": ", linear_bias=w[:, 0], weight=w[:, 1].detach().abs(), reduction='sum', label_smoothing=0.1", "none": ", reduction='none', ignore_index=2"}.items()]
table("nn_ops.attention", probe, rows)

SCOPE = {**S, "w": W, "i": I, "o": O, "p": IB, "x": P, "t": T}
table("nn_ops.attention.refused", fails, [(n, e, SCOPE) for n, e in {
    "dot types": f"{SDP}(q, k, v.float())", "dot rank": f"{SDP}(q[0, 0, 0], k[0, 0, 0], v[0, 0, 0])", "dot sizes": f"{SDP}(q, k[..., :3], v)",
    "dot mask type": f"{SDP}(q.float(), k.float(), v.float(), q[0, 0].detach())", "dot mask long": f"{SDP}(q, k, v, i)", "dot mask shape": f"{SDP}(q, k, v, x[0])",
    "dot dropout": f"{SDP}(q, k, v, dropout_p=1.5)", "dot both": f"{SDP}(q[0], k[0], v[0], torch.ones(3, 5), is_causal=True)", "bag none": "F.embedding_bag(i, w)",
    "bag both": "F.embedding_bag(p, w, o)", "bag rank": "F.embedding_bag(p[None], w)", "bag offsets rank": "F.embedding_bag(i, w, o[None])",
    "bag first": "F.embedding_bag(i, w, o + 1)", "bag last": "F.embedding_bag(i, w, o * 4)", "bag index": "F.embedding_bag(i + 2, w, o)", "bag mode": "F.embedding_bag(i, w, o, mode='x')",
    "bag padding": "F.embedding_bag(i, w, o, padding_idx=9)", "bag frequency": "F.embedding_bag(i, w, o, scale_grad_by_freq=True, mode='max')",
    "bag sparse": "F.embedding_bag(i, w, o, sparse=True, mode='max')", "bag float": "F.embedding_bag(i.float(), w, o)", "bag long": "F.embedding_bag(i, w.long(), o)",
    "bag weights": "F.embedding_bag(p, w, mode='sum', per_sample_weights=w)", "bag weights mode": "F.embedding_bag(p, w, per_sample_weights=w[:3, :2])",
    "ctc blank": "F.ctc_loss(x, t, [5, 5], [3, 2], blank=4)", "ctc long": "F.ctc_loss(x, t, [6, 5], [3, 2])", "ctc targets": "F.ctc_loss(x, t, [5, 5], [3, 4])",
    "ctc inputs": "F.ctc_loss(x, t, [5], [3, 2])", "ctc lengths": "F.ctc_loss(x, t, [5, 5], [3])", "ctc half": "F.ctc_loss(x.half(), t, [5, 5], [3, 2])",
    "ctc negative": "F.ctc_loss(x, t, [-1, 5], [3, 2])", "ctc reduction": "F.ctc_loss(x, t, [5, 5], [3, 2], reduction='x')",
}.items()])


def rounded(t):
    """Sums of float32 products, without their last places."""
    return (t.detach() * 1000).round()


def heads(torch, **over):
    """Value, weights and gradients of a small attention."""
    def fill(*shape, k=1.0):
        return (torch.arange(1.0, 1.0 + torch.Size(shape).numel(), dtype=torch.float64) * k).sin().reshape(shape)

    given = {"query": fill(3, 2, 4), "key": fill(5, 2, 4, k=0.7), "value": fill(5, 2, 4, k=0.3), "in_proj_weight": fill(12, 4, k=0.37), "in_proj_bias": fill(12, k=1.3),
             "bias_k": None, "bias_v": None, "add_zero_attn": False, "dropout_p": 0.0, "out_proj_weight": fill(4, 4, k=2.1), "out_proj_bias": fill(4)}
    given = {k: v.requires_grad_() if isinstance(v, torch.Tensor) else v for k, v in given.items()}
    given.update({k: v(fill) if callable(v) else v for k, v in over.items()})
    leaves = [given["query"], given["out_proj_weight"]]
    out, weights = torch.nn.functional.multi_head_attention_forward(embed_dim_to_check=over.get("embed_dim_to_check", 4), num_heads=over.get("num_heads", 2), **{
        k: v for k, v in given.items() if k not in ("embed_dim_to_check", "num_heads")})
    return out.detach(), out.grad_fn.name(), None if weights is None else weights.detach(), torch.autograd.grad((out * out).sum(), leaves)


@case("nn_ops.attention.heads")
def _(torch):
    hidden = torch.tensor([[False, True, False, False, True], [False] * 5])
    for weights in (True, False):
        how = {"need_weights": weights}
        yield f"plain {weights}", heads(torch, **how)
        yield f"padding {weights}", heads(torch, key_padding_mask=hidden, **how)
        yield f"mask {weights}", heads(torch, attn_mask=lambda f: f(3, 5), **how)
        yield f"mask three {weights}", heads(torch, attn_mask=lambda f: f(4, 3, 5), **how)
        yield f"mask bools {weights}", heads(torch, attn_mask=lambda f: f(3, 5) > 0.9, key_padding_mask=hidden, **how)
        yield f"zero {weights}", heads(torch, add_zero_attn=True, **how)
        yield f"bias {weights}", heads(torch, bias_k=lambda f: f(1, 1, 4), bias_v=lambda f: f(1, 1, 4, k=2.0), attn_mask=lambda f: f(3, 5), **how)
        yield f"unbatched {weights}", heads(torch, query=lambda f: f(3, 4).requires_grad_(), key=lambda f: f(5, 4), value=lambda f: f(5, 4, k=0.3), **how)
        yield f"causal {weights}", heads(torch, is_causal=True, attn_mask=lambda f: f(3, 5), **how)
        yield f"separate {weights}", heads(torch, use_separate_proj_weight=True, q_proj_weight=lambda f: f(4, 4), k_proj_weight=lambda f: f(4, 6, k=2.0), v_proj_weight=lambda f: f(
            4, 3, k=3.0), key=lambda f: f(5, 2, 6), value=lambda f: f(5, 2, 3), **how)
        yield f"static {weights}", heads(torch, static_k=lambda f: f(4, 7, 2), static_v=lambda f: f(4, 7, 2, k=0.2), **how)
    yield "each head", heads(torch, average_attn_weights=False)
    yield "no biases", heads(torch, in_proj_bias=None, out_proj_bias=None)
    yield "evaluated", heads(torch, dropout_p=0.5, training=False)
    torch.manual_seed(1)
    yield "dropped", heads(torch, dropout_p=0.5)
    yield "dropped without weights", heads(torch, dropout_p=0.5, need_weights=False)
    yield "warned", warned(lambda: heads(torch, attn_mask=lambda f: f(3, 5), key_padding_mask=hidden))


@case("nn_ops.attention.heads_refused")
def _(torch):
    wrong = {"embed": {"embed_dim_to_check": 5}, "count": {"num_heads": 3}, "rank": {"query": lambda f: f(3, 2, 4, 1)}, "key rank": {"key": lambda f: f(5, 4)},
             "value": {"value": lambda f: f(4, 2, 4)}, "weight": {"in_proj_weight": None}, "separate": {"use_separate_proj_weight": True},
             "mask rank": {"attn_mask": lambda f: f(1, 3, 5, 1)}, "mask": {"attn_mask": lambda f: f(3, 4)}, "mask three": {"attn_mask": lambda f: f(3, 3, 5)},
             "mask long": {"attn_mask": lambda f: f(3, 5).long()}, "padding long": {"key_padding_mask": lambda f: f(2, 5).long()},
             "padding": {"key_padding_mask": lambda f: f(2, 4) > 0}, "padding rank": {"key_padding_mask": lambda f: f(5) > 0}, "static": {"static_k": lambda f: f(3, 7, 2)},
             "static width": {"static_v": lambda f: f(4, 7, 3)}, "one bias": {"bias_k": lambda f: f(1, 1, 4)}, "causal": {"is_causal": True}}
    for name, over in wrong.items():
        yield name, attempt(lambda over=over: heads(torch, **over))


@case("nn_ops.attention.max_norm")
def _(torch):
    w = torch.arange(12.0).view(4, 3)
    yield "out", torch.nn.functional.embedding_bag(torch.tensor([[0, 1], [1, 2]]), w, max_norm=2.0)
    yield "weight", w
