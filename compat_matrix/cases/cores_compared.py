"""What programs drawn at random see of the core: dtypes at hooks, results that nodes read, writes through views of other types, order of nodes."""

import threading

from compat_matrix.case import case

_MIXED = {
    "add_": lambda a, x: a.add_(x), "mul_": lambda a, x: a.mul_(x), "sub_": lambda a, x: a.sub_(x, alpha=2), "div_": lambda a, x: a.div_(x), "pow_": lambda a, x: a.pow_(x),
    "addcmul_": lambda a, x: a.addcmul_(x, x), "copy_": lambda a, x: a.copy_(x), "twice": lambda a, x: a.mul_(x).add_(x)}


@case("cores_compared.writes of other dtypes")
def _(torch):
    for dtype, wide in ((torch.float32, torch.float64), (torch.bfloat16, torch.float64), (torch.complex64, torch.complex128), (torch.float32, torch.complex128)):
        for name, write in _MIXED.items():
            for history in (False, True):
                x = torch.tensor([1.0, 2.0], dtype=wide, requires_grad=True)
                a = torch.tensor([1.0, 4.0], dtype=dtype, requires_grad=history) * 1
                heard = []
                try:
                    write(a, x)
                except (RuntimeError, NotImplementedError) as e:
                    yield f"{name} {dtype} {wide} {history}", type(e).__name__, str(e)
                    continue
                a.register_hook(lambda g, heard=heard: heard.append(g.dtype))
                a.retain_grad()
                a.grad_fn.register_prehook(lambda gs, heard=heard: heard.append(gs[0].dtype))
                a.grad_fn.register_hook(lambda gi, go, heard=heard: heard.append([None if g is None else g.dtype for g in (*gi, *go)]))
                loss = (a * a.conj()).real.sum()
                loss.backward(retain_graph=True)
                found = torch.autograd.grad(loss, [a, x], create_graph=True)
                second = torch.autograd.grad((found[0] * found[0].conj()).real.sum().double() + (found[1] * found[1].conj()).real.sum(), [a, x])
                yield f"{name} {dtype} {wide} {history}", heard, [m.dtype for m in a.grad_fn._input_metadata], a.grad_fn.name(), [n and n.name() for n, _ in a.grad_fn.next_functions]
                if dtype is not torch.bfloat16:
                    yield f"{name} {dtype} {wide} {history} gradients", a.grad, x.grad, found, second


_SAVING = {"tanh": lambda v: v.tanh_(), "exp": lambda v: v.exp_(), "sigmoid": lambda v: v.sigmoid_(), "sqrt": lambda v: v.sqrt_(), "relu": lambda v: v.relu_(),
           "reciprocal": lambda v: v.reciprocal_(), "cumprod": lambda v: v.cumprod_(0)}
_VIEWS = {"slice": lambda d: d[1:], "row": lambda d: d[1], "flat": lambda d: d.view(-1), "turned": lambda d: d.t(), "alike": lambda d: d.view_as(d),
          "two": lambda d: d.view(-1)[2:4], "strided": lambda d: d.as_strided((2,), (2,))}


@case("cores_compared.results written through views")
def _(torch):
    for name, write in _SAVING.items():
        for which, view in _VIEWS.items():
            for how in ("at once", "looked at", "used", "let go", "packed"):
                x = torch.tensor([[1.0, 2.0], [0.5, 0.3]], dtype=torch.float64, requires_grad=True)
                d = x * 2
                v = view(d)
                if how == "packed":
                    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
                        write(v)
                else:
                    write(v)
                if how == "looked at":
                    d.tolist()
                if how == "used":
                    v.sin()
                first = torch.autograd.grad((d * d).sum(), [v, x], create_graph=True, allow_unused=True)
                if how == "let go":
                    del v
                asked = [x, d] if how == "let go" else [v, x, d]
                yield f"{name} {which} {how}", first, torch.autograd.grad((first[1] ** 2).sum(), asked, allow_unused=True)


@case("cores_compared.elements of other sizes at chosen strides")
def _(torch):
    for i, (source, shape, strides, start, dtype) in enumerate((
            (torch.float32, (2, 3), (4, 1), 1, torch.int16), (torch.float32, (2, 4), (4, 1), 0, torch.float64), (torch.float32, (2, 2), (6, 1), 2, torch.float64),
            (torch.float32, (4,), (1,), 2, torch.complex64), (torch.float64, (2, 3), (4, 1), 1, torch.float16), (torch.bool, (3, 2), (4, 1), 0, torch.uint8),
            (torch.uint8, (3, 2), (4, 1), 0, torch.int16), (torch.complex64, (2, 3), (3, 1), 0, torch.float32), (torch.complex64, (2, 3), (3, 1), 0, torch.float64))):
        for name, write in (("filled", lambda v: v.fill_(1)), ("a row", lambda v: v[0].zero_()), ("multiplied", lambda v: v.mul_(2)), ("a column", lambda v: v[..., :1].fill_(3))):
            x = torch.arange(12).to(source)
            v = x.as_strided(shape, strides, start).view(dtype)
            write(v)
            yield f"{i} {name}", x, v
    x = torch.arange(12.0)
    x.view(torch.int16).as_strided((3, 2), (4, 1)).view(torch.float32).fill_(7)
    torch.view_as_complex(x.as_strided((2, 2, 2), (4, 2, 1), 4)).view(torch.float32)[0].fill_(8)
    yield "through both", x


_TURNS = {"t_": lambda w: w.t_(), "unsqueeze_": lambda w: w.unsqueeze_(0), "squeeze_": lambda w: w.squeeze_(), "as_strided_": lambda w: w.as_strided_((3,), (2,)),
          "transpose_": lambda w: w.transpose_(0, 1), "detach_": lambda w: w.detach_()}


@case("cores_compared.retained by what is turned")
def _(torch):
    v = torch.arange(6.0).view(2, 3).requires_grad_()
    for name, turn in _TURNS.items():
        for how in ("alone", "with a view", "looked at", "used before", "again", "of a view", "without a graph"):
            w = v * 3
            other = w[0] if how == "with a view" else None
            w = w.view(2, 3) if how == "of a view" and name != "detach_" else w
            if how == "looked at":
                w.tolist()
            w.retain_grad()
            used = w * 1
            with torch.set_grad_enabled(how != "without a graph"):
                turn(w)
            found = [w.retains_grad, w.requires_grad]
            if how == "again" and w.requires_grad:
                w.retain_grad()
            loss = (w * torch.arange(float(w.numel())).view(w.shape)).sum()
            if how == "used before":
                loss = loss + (used * used).sum()
            if loss.requires_grad and how != "without a graph":
                loss.backward()
            yield f"{name} {how}", found, w.retains_grad, w.grad, other is None


@case("cores_compared.asked for what leads nowhere")
def _(torch):
    ran = []

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            ran.append(1)
            return g

    for mode in (torch.no_grad, torch.inference_mode):
        for leaf in (True, False):
            for name, use in (("multiplied", lambda v, x: v * 2), ("stale", lambda v, x: v.exp().mul_(2)), ("a Function", lambda v, x: Exp.apply(v)), ("both", lambda v, x: v * 2 + x)):
                x = torch.ones(3, requires_grad=True)
                u = x if leaf else x * 1
                with mode():
                    v = u.view(3)
                y = use(v, x)
                yield f"{name} {mode.__name__} {leaf}", torch.autograd.grad(y.sum(), [x, v], allow_unused=True, retain_graph=True), len(ran)


@case("cores_compared.stepped by a hook in another thread")
def _(torch):
    laid = torch.ones(1, 2, 3, 3, requires_grad=True).contiguous(memory_format=torch.channels_last)
    w = torch.ones(2, 1, requires_grad=True)

    def step(p):
        with torch.no_grad():
            p.sub_(p.grad, alpha=0.25)
        p.grad = None

    w.register_post_accumulate_grad_hook(step)
    for turn in range(2):
        loss = (w * w).sum()
        thread = threading.Thread(target=loss.backward)
        thread.start()
        thread.join()
        yield f"{turn}", w.detach(), w.grad, w._version, laid.stride()


@case("cores_compared.inference tensors turned outside of the mode")
def _(torch):
    for name, turn in _TURNS.items():
        for how in ("alone", "with a view", "of a view"):
            with torch.inference_mode():
                w = torch.arange(6.0).view(2, 3) * 1
                other = w.view(-1) if how == "with a view" else None
                w = w.view(2, 3) if how == "of a view" else w
            try:
                turn(w)
                yield f"{name} {how}", "turned"
            except RuntimeError as e:
                yield f"{name} {how}", str(e)
            yield f"{name} {how} then", w, w.stride(), w.is_inference(), w.requires_grad, other
