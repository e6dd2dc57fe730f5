"""What stands beside the path of a pass: roots that lead to no target, nodes that a write leaves behind, inputs asked for twice, what was written after a graph."""

from compat_matrix.case import case, raises


def _numbers(t):
    return None if t is None else t.tolist()


@case("beside_the_path.roots that lead to no target")
def _(torch):
    def graph():
        heard = []
        x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        y = x * 2
        z = y * 3
        known = {"x": x, "w": w, "y": y, "z": z}
        for name in "xyw":
            known[name].register_hook(lambda g, name=name: heard.append((name, _numbers(g))))
        y.grad_fn.register_prehook(lambda g: heard.append("node of y"))
        x.register_post_accumulate_grad_hook(lambda p: heard.append("accumulated"))
        return known, heard

    for targets in ("y", "z", "x", "w", "yw"):
        for roots in ("zx", "zw", "xz", "xw", "zxw", "yx", "zyx", "z", "y", "x", "w", "yy", "xx"):
            known, heard = graph()
            outs = [known[k] for k in roots]
            torch.autograd.backward(outs, [torch.ones_like(o) for o in outs], inputs=[known[k] for k in targets])
            yield f"backward {roots} to {targets}", heard, [_numbers(known[k].grad) for k in "xyw"]
            known, heard = graph()
            outs = [known[k] for k in roots]
            found = torch.autograd.grad(outs, [known[k] for k in targets], [torch.ones_like(o) for o in outs], allow_unused=True)
            yield f"grad {roots} to {targets}", heard, [_numbers(g) for g in found]


@case("beside_the_path.a pass through views alone")
def _(torch):
    for name, view in (("view", lambda t: t.view(1, 2)), ("two", lambda t: t.view(1, 2).t()), ("itself", lambda t: t), ("product", lambda t: t * 2)):
        for start in ("backward", "grad"):
            x, heard = torch.ones(2, requires_grad=True), []
            y = view(x)
            if start == "backward":
                torch.autograd.graph.register_multi_grad_hook([x, x], lambda g, heard=heard: heard.append([_numbers(h) for h in g]))
                torch.autograd.graph.register_multi_grad_hook([x], lambda g, heard=heard: heard.append(_numbers(g)), mode="any")
                node = y.grad_fn
                if node is not None:
                    x.register_hook(lambda g, heard=heard, node=node: heard.append(torch._C._will_engine_execute_node(node)))
                y.backward(torch.ones_like(y))
                yield f"{name} {start}", heard, x.grad
            else:
                z = y.view(2)
                torch.autograd.graph.register_multi_grad_hook([y * 1, z], lambda g, heard=heard: heard.append(len(g)))
                yield f"{name} {start}", torch.autograd.grad(z, x, torch.ones(2))[0], heard


@case("beside_the_path.views that a Function writes to")
def _(torch):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2, g * 5 if ctx.needs_input_grad[1] else None

    views = {"slice": lambda b: b[:2], "of views": lambda b: b.view(2, 2).t()[0], "row": lambda b: b.view(2, 2)[1]}
    for name, view in views.items():
        for how in ("none", "hook", "prehook", "posthook", "retain", "of the base"):
            for same in (False, True):
                w, heard = torch.arange(4.0, requires_grad=True), []
                base = w * 1
                v = view(base)
                other = v if same else torch.ones(2, requires_grad=True)
                if how == "hook":
                    v.register_hook(lambda g, heard=heard: (heard.append(_numbers(g)), g * 10)[1])
                elif how == "prehook":
                    v.grad_fn.register_prehook(lambda g, heard=heard: heard.append(_numbers(g[0])))
                elif how == "posthook":
                    v.grad_fn.register_hook(lambda i, o, heard=heard: (heard.append(len(i)), tuple(None if g is None else g * 10 for g in i))[1])
                elif how == "retain":
                    v.retain_grad()
                elif how == "of the base":
                    base.register_hook(lambda g, heard=heard: (heard.append(_numbers(g)), g * 10)[1])
                out = Twice.apply(v, other)
                loss = (base**2 * torch.arange(4.0)).sum() + (v * v).sum()
                first, = torch.autograd.grad(loss, w, create_graph=True)
                second, = torch.autograd.grad((first**2).sum(), w, retain_graph=True)
                loss.backward()
                yield f"{name} {how} {same}", heard, first, second, w.grad, out is v, base.grad_fn.name(), v._version


@case("beside_the_path.batched gradients")
def _(torch):
    x, constant, g = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.ones(3), torch.ones(2, 3)
    a, b = torch.autograd.grad([x * x], [x, x], [g], is_grads_batched=True, create_graph=True)
    yield "asked for twice", a is b, a, torch.autograd.grad([(a * a).sum(), (b * b).sum()], [a])[0]
    for name, kwargs in (("plain", {}), ("unused", {"allow_unused": True}), ("materialized", {"materialize_grads": True})):
        for outs in ([constant], [x * 2, constant], [constant, x * 2]):
            yield f"{name} {[o.requires_grad for o in outs]}", raises(
                lambda outs=outs, kwargs=kwargs: torch.autograd.grad(outs, [x], [g] * len(outs), is_grads_batched=True, **kwargs))


@case("beside_the_path.written after a graph of gradients")
def _(torch):
    writes = {"mul_": lambda y: y.mul_(2), "zero_": lambda y: y.zero_(), "copy_": lambda y: y.copy_(torch.ones(3)), "of a view": lambda y: y[:1].mul_(2),
              "nothing": lambda y: None}
    functions = {"product": lambda y: y * y, "sin": lambda y: y.sin(), "power": lambda y: y**3, "in place": lambda y: (y * 1).mul_(y)}
    for name, f in functions.items():
        for how, write in writes.items():
            for needs in (False, True):
                x, g = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.ones(3, requires_grad=needs)
                y = x * 1
                first, = torch.autograd.grad(f(y), y, g, create_graph=True)
                write(y)
                yield f"{name} {how} {needs}", raises(lambda first=first: first.sum().backward()), x.grad, None if x.grad is None else g.grad


@case("beside_the_path.numbers of gradients that do not fit")
def _(torch):
    class Several(torch.autograd.Function):
        @staticmethod
        def forward(ctx, name, x, k, y):
            return x * k + y.sum()

        @staticmethod
        def backward(ctx, g):
            return None, g * 2, None, g.sum().expand(2)

    for needs in ((True, True), (False, True), (True, False)):
        x, y = (torch.ones(3, requires_grad=n) for n in needs)
        yield str(needs), raises(lambda x=x, y=y: Several.apply("a", x, 2.0, y).sum().backward()), x.grad


@case("beside_the_path.a saved result without history")
def _(torch):
    class Signs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            signs = x.sign() * 3
            ctx.mark_non_differentiable(signs)
            ctx.save_for_backward(signs)
            return x * 2, signs

        @staticmethod
        def backward(ctx, g, h):
            return g * ctx.saved_tensors[0]

    writes = {"nothing": lambda t: None, "requires_grad_": lambda t: t.requires_grad_(), "written": lambda t: t.mul_(2), "beside": lambda t: t.detach().mul_(2),
              "with a graph": lambda t: t.mul_(torch.ones(2, requires_grad=True)), "through a view": lambda t: t[:1].mul_(2)}
    for name, write in writes.items():
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        y, signs = Signs.apply(x)
        yield f"{name}, itself", y.grad_fn.saved_tensors[0] is signs
        write(signs)
        found = []
        yield name, raises(lambda x=x, y=y, found=found: found.extend(torch.autograd.grad(y.sum(), x, create_graph=True)))
        for g in found:
            yield f"{name}, gradient", g
            if g.requires_grad:
                yield f"{name}, second", torch.autograd.grad((g * g).sum(), [x, signs], allow_unused=True)
