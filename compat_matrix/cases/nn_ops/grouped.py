"""Products of groups (grouped_mm) and bags with their places (torch.embedding_bag): values, gradients, refusals."""

from compat_matrix.case import attempt, case

A, B = "torch.arange(128.).remainder(7).sub(3).reshape(16, 8)", "torch.arange(256.).remainder(5).sub(2).reshape(2, 8, 16)"
GROUPED = {
    "rows": "F.grouped_mm(a, b, offs=e)", "stacks": "F.grouped_mm(a.view(2, 8, 8), b)", "inner": "F.grouped_mm(a, b.reshape(8, 32)[:, :16], offs=e // 2)",
    "columns": "F.grouped_mm(a.view(2, 8, 8), b.reshape(8, 32), offs=e * 2)", "empty group": "F.grouped_mm(a, b, offs=e * 0 + 16)", "operator": "torch._grouped_mm(a, b, e)",
    "same dtype": "F.grouped_mm(a, b, offs=e, out_dtype=torch.float32)", "transposed": "F.grouped_mm(a, b.mT.contiguous().mT, offs=e)"}
REFUSED = {
    "no offsets": "F.grouped_mm(a, b)", "both": "F.grouped_mm(a.view(2, 8, 8), b, offs=e)", "long offsets": "F.grouped_mm(a, b, offs=e.long())", "bias": "F.grouped_mm(a, b, offs=e, bias=a[0])", "constant bias": "F.grouped_mm(a, b, offs=e, bias=a[0].detach())",
    "double": "F.grouped_mm(a.double(), b, offs=e)", "second double": "F.grouped_mm(a, b.double(), offs=e)", "int": "F.grouped_mm(a.int(), b.int(), offs=e)", "mixed": "F.grouped_mm(a, b.half(), offs=e)",
    "one dim": "F.grouped_mm(a[0], b, offs=e)", "one dim second": "F.grouped_mm(a, b[0, 0], offs=e)", "matrix of offsets": "F.grouped_mm(a, b, offs=e[None])",
    "groups": "F.grouped_mm(a, b, offs=e[:1])", "inner sizes": "F.grouped_mm(a, b[:, :4], offs=e)", "stack sizes": "F.grouped_mm(a.view(4, 4, 8), b)",
    "strides": "F.grouped_mm(a[:, :7].contiguous(), b[:, :7], offs=e)", "expanded": "F.grouped_mm(a[:1, :1].expand(16, 8), b, offs=e)",
    "out dtype": "F.grouped_mm(a, b, offs=e, out_dtype=torch.bfloat16)"}


def scope(torch):
    made = {"torch": torch, "F": torch.nn.functional, "e": torch.tensor([8, 16], dtype=torch.int32)}
    made["a"], made["b"] = eval(A, made).requires_grad_(), eval(B, made).requires_grad_()
    return made


for _name, _text in GROUPED.items():
    @case(f"nn_ops.grouped.{_name}", text=_text)
    def _(torch, text):
        s = scope(torch)
        y = eval(text, s)
        c = torch.arange(float(y.numel())).remainder(3).sub(1).reshape(y.shape).requires_grad_()
        first = torch.autograd.grad(y, (s["a"], s["b"]), c, create_graph=True)
        yield "value", y.detach(), y.grad_fn.name()
        yield "first", [g.detach() for g in first], [g.requires_grad for g in first]
        yield "second", torch.autograd.grad([(g * g).sum() for g in first], (s["a"], s["b"], c))
        yield "half", [eval(text, {**s, "a": s["a"].detach().to(d), "b": s["b"].detach().to(d)}) for d in (torch.bfloat16, torch.float16)] if "float32" not in text else 0
for _name, _text in REFUSED.items():
    @case(f"nn_ops.grouped.refused.{_name}", text=_text)
    def _(torch, text):
        yield "words", attempt(lambda: eval(text, scope(torch)))

BAGS = {
    "offsets": "w, i, o, False, {m}", "padding": "w, i, o, False, {m}, False, None, False, 2", "negative padding": "w, i, o, False, {m}, False, None, False, -1", "no padding": "w, i, o, False, {m}, False, None, False, None",
    "last": "w, i.int(), torch.tensor([0, 2, 4]), False, {m}, False, None, True", "empty bag": "w, i, torch.tensor([0, 2, 2, 3]), False, {m}", "nothing": "w, i[:0], o * 0, False, {m}",
    "weighted": "w, i, o, False, {m}, False, p", "frequency": "w, i, o, True, {m}", "bad padding": "w, i, o, False, {m}, False, None, False, 9",
    "by name": "w, i, o, mode={m}, padding_idx=1", "no offsets": "w, i, mode={m}", "floats": "w, i.float(), o, mode={m}", "bad mode": "w, i, o, mode={m} + 3"}
for _name, _text in BAGS.items():
    @case(f"nn_ops.grouped.bag.{_name}", text=_text)
    def _(torch, text):
        for m in range(3):
            s = {"torch": torch, "w": torch.arange(15.0).sin().reshape(5, 3).requires_grad_(), "i": torch.tensor([0, 2, 2, 4]), "o": torch.tensor([0, 2]), "p": torch.tensor([1.0, 0.5, 2.0, -1.0], requires_grad=True)}
            found = attempt(lambda s=s, m=m: eval(f"torch.embedding_bag({text.format(m=m)})", s))
            yield f"{m}", [t.detach() for t in found] if isinstance(found, tuple) else found
            if isinstance(found, tuple):
                yield f"{m} gradient", attempt(lambda s=s, found=found: torch.autograd.grad(found[0].square().sum(), (s["w"], s["p"]), allow_unused=True)), found[0].grad_fn.name(), [t.requires_grad for t in found]
