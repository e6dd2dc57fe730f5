"""What the test suites of libraries ask: unmodified suites found these."""

import dataclasses
import importlib

from compat_matrix.case import case


@case("asked_by_suites.assert_close_unsigned")
def _(torch):
    for d in (torch.uint16, torch.uint32, torch.uint64):
        for e in (torch.int64, torch.float32, torch.uint8, torch.bool, d):
            torch.testing.assert_close(torch.tensor([1, 1, 0]).to(d), torch.tensor([1, 1, 0]).to(e), check_dtype=False)
            try:
                torch.testing.assert_close(torch.tensor([1, 1, 0]).to(d), torch.tensor([1, 1, 1]).to(e), check_dtype=False)
            except AssertionError as refused:
                yield f"{d} {e}", str(refused)


def _said(f):
    """What a sparse tensor is, or the first line of a refusal."""
    try:
        found = f()
    except (RuntimeError, TypeError) as refused:
        return type(refused).__name__, str(refused).partition("This could")[0].partition("\n")[0]
    return found._indices(), found._values(), tuple(found.shape), found.is_coalesced(), found._version


@case("asked_by_suites.sparse_sizes")
def _(torch):
    """`new` of a sparse tensor and the resize family."""
    s, dense = torch.eye(3).to_sparse(), torch.ones(2)
    slices = torch.sparse_coo_tensor([[0, 1]], torch.ones(2, 3), (2, 3))
    at = torch.tensor([[0, 1]])
    for name, f in {
        "nothing": lambda: s.new(), "size": lambda: s.new(2, 3), "size by name": lambda: s.new(size=(2, 3)), "size whole": lambda: s.new(torch.Size([2, 3])),
        "values": lambda: s.new(s._indices(), s._values(), s.size()), "no size": lambda: s.new(s._indices(), s._values()),
        "other dtype": lambda: s.new(at, torch.ones(2, dtype=torch.float64)), "slices": lambda: s.new(at, torch.ones(2, 3)),
        "list": lambda: s.new([1, 2]), "dense": lambda: s.new(dense), "to dense": lambda: dense.new(s), "float indices": lambda: s.new(at * 1.0, dense),
        "resized empty": lambda: s.new().resize_as_(s), "resized slices": lambda: slices.new().resize_as_(slices),
        "larger": lambda: s.clone().resize_as_(torch.eye(4).to_sparse()), "smaller": lambda: s.clone().resize_as_(torch.eye(2).to_sparse()),
        "like dense": lambda: s.clone().resize_as_(torch.eye(2)), "sparse_resize_": lambda: slices.clone().sparse_resize_((5, 3), 1, 1),
        "fewer dims": lambda: s.clone().resize_as_(slices), "narrower": lambda: slices.clone().sparse_resize_((2, 2), 1, 1),
        "dims that do not fit": lambda: slices.clone().sparse_resize_((2, 4), 1, 0), "cleared": lambda: slices.clone().sparse_resize_and_clear_((2, 4), 1, 1),
        "written": lambda: s.clone().add_(s).mul_(2).zero_(), "copied": lambda: s.clone().copy_(s),
    }.items():
        yield name, _said(f)


@case("asked_by_suites.strides_of_one_element")
def _(torch):
    """Strides along dims of one element decide how the results of what follows lie, and with that which numbers dropout draws."""
    F = torch.nn.functional
    for n, height, width, channels in ((2, 1, 1, 8), (1, 2, 2, 8), (2, 2, 1, 3), (1, 1, 2, 1)):
        seen = torch.arange(1.0 * n * height * width * channels).reshape(n, height * width, channels).transpose(1, 2).reshape(n, channels, height, width)
        larger = F.interpolate(seen, size=(4, 4), mode="bilinear")
        yield f"{n} {height} {width} {channels}", {
            "seen": seen.stride(), "added dims": seen.view(1, n, channels, 1, height, width).stride(), "larger": larger.stride(),
            "normalised": F.batch_norm(seen, None, None, training=True).stride() if n * height * width > 1 else None,
            "pooled": F.adaptive_avg_pool2d(larger, 1).stride(), "dropped": F.dropout(larger, 0.5, True)}
    image = torch.ones(2, 4, 3, 3).contiguous(memory_format=torch.channels_last).requires_grad_()
    pooled = F.adaptive_avg_pool2d(image, 1)
    yield "node", pooled.grad_fn.name(), pooled._version, torch.autograd.grad(pooled.sum(), image)[0].stride()


@case("asked_by_suites.dataclasses_as_trees")
def _(torch):
    """`register_dataclass`: fields that are None are in the form, not among the leaves."""
    import dataclasses

    tree = torch.utils._pytree

    @dataclasses.dataclass
    class Pair:
        left: object
        right: object = None
        made: int = dataclasses.field(default=3, init=False)

    tree.register_dataclass(Pair)
    leaves, form = tree.tree_flatten(Pair(torch.ones(2), None))
    yield "leaves", leaves, len(tree.tree_flatten(Pair(1, 2))[0])
    yield "together", [getattr(tree.tree_unflatten([5], form), name) for name in ("left", "right", "made")]
    yield "paths", [tree.keystr(path) for path, _ in tree.tree_flatten_with_path(Pair(1, [2, 3]))[0]]
    yield "mapped", dataclasses.astuple(tree.tree_map(lambda x: x + 1, Pair(1, 2)))

    class Plain:
        def __init__(self, x):
            self.x = x

    def refused(*args, **kwargs):
        try:
            tree.register_dataclass(*args, **kwargs)
        except ValueError as e:
            return str(e).partition("<class")[0]

    yield "refused", refused(Plain), refused(Pair, field_names=["left"]), refused(Pair, field_names=["left", "right", "made"])
    tree.register_dataclass(Plain, field_names=["x"])
    yield "plain", tree.tree_map(lambda x: x + 1, Plain(2)).x


@case("asked_by_suites.export_is_named")
def _(torch):
    """What libraries write down for an export before they ask for it."""
    Dim, export = torch.export.Dim, torch.export
    yield "dims", repr(Dim("batch")), repr(Dim("batch", min=3, max=9)), repr(export.dims("a", "b", max=4)), Dim("size").__name__
    yield "hints", repr(Dim.AUTO), repr(Dim.STATIC), repr(Dim.DYNAMIC(min=1, max=4))
    yield "not equal", export.ExportedProgram is not None, isinstance(3, export.ExportedProgram)
    for name, f in {"name": lambda: Dim("a b"), "bounds": lambda: Dim("a", min=4, max=2), "negative": lambda: Dim.AUTO(min=-1)}.items():
        try:
            f()
        except AssertionError as e:
            yield name, str(e)


@case("asked_by_suites.generator_of_no_device")
def _(torch):
    yield "device", str(torch.Generator(None).device), str(torch.Generator(device=None).device)


@case("asked_by_suites.wrapped_modules")
def _(torch):
    """Checkpoints around submodules: the names of what is inside, the gradients of what is not wrapped."""
    from functools import partial
    from importlib import import_module

    around = import_module(torch.__name__ + ".distributed.algorithms._checkpoint.checkpoint_wrapper")
    policies = import_module(torch.__name__ + ".distributed.fsdp.wrap")
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.calls = nn.Linear(3, 3), 0

        def forward(self, x, scale=1.0):
            self.calls += 1
            return torch.tanh(nn.functional.dropout(self.inner(x))) * scale

    for kind in around.CheckpointImpl:
        torch.manual_seed(0)
        model = nn.Sequential(Block(), Block(), nn.Linear(3, 1))
        wrapper = partial(around.checkpoint_wrapper, checkpoint_impl=kind)
        around.apply_activation_checkpointing(model, wrapper, lambda m: isinstance(m, Block))
        x = torch.ones(2, 3, requires_grad=True)
        model(x).sum().backward()
        yield kind.name, {"text": repr(model), "state": list(model.state_dict()), "parameters": [n for n, _ in model[0].named_parameters(prefix="p")],
                          "modules": [n for n, _ in model.named_modules()], "calls": model[0].calls, "gradients": [x.grad, *(p.grad for p in model.parameters())],
                          "loaded": str(model.load_state_dict(model.state_dict())), "with names": model[0](x, scale=torch.tensor(2.0)).detach()}
    stored = around.offload_wrapper(nn.Sequential(nn.Linear(3, 3)))
    yield "offloaded", list(stored.state_dict()), repr(stored[0])

    class Wrapper(nn.Module):
        def __init__(self, module, tag=0):
            super().__init__()
            self.module, self.tag = module, tag

    for name, policy in {
        "all": policies.always_wrap_policy, "size": partial(policies.size_based_auto_wrap_policy, min_num_params=12),
        "classes": policies.ModuleWrapPolicy([Block]), "either": partial(policies._or_policy, policies=[
            policies.ModuleWrapPolicy({Block}), partial(policies.lambda_auto_wrap_policy, lambda_fn=lambda m: isinstance(m, nn.ReLU))]),
    }.items():
        model = nn.Sequential(nn.ModuleList([Block(), nn.Linear(2, 2)]), nn.MultiheadAttention(4, 2), nn.ReLU())
        wrapped, count = policies._recursive_wrap(model, policy, Wrapper, set(), set())
        yield name, count, [(n, type(m).__name__) for n, m in wrapped.named_modules()]
    with policies.enable_wrap(wrapper_cls=Wrapper, tag=4):
        yield "inside", policies.wrap(nn.ReLU()).tag, policies.wrap(nn.ReLU(), tag=5).tag
    yield "outside", type(policies.wrap(nn.ReLU())).__name__


@case("asked_by_suites.parts_of_others")
def _(torch):
    """Operators that other libraries call by the names that PyTorch's own use."""
    gradients, found, scale = [torch.tensor([2.0, 4.0]), torch.tensor([3.0])], torch.zeros(1), torch.tensor([16.0])
    steps = torch.zeros(1, dtype=torch.int32)
    torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor([0.5]))
    yield "unscaled", gradients, found
    gradients[0][1] = float("inf")
    torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor([0.5]))
    yield "infinite", gradients, found
    for turn in range(4):
        yield f"scale {turn}", torch._amp_update_scale_(scale, steps, found, 2.0, 0.5, 2) is scale, scale.clone(), steps.clone()
        found.zero_()
    rows, starts, columns = torch.tensor([0, 0, 1, 3]), torch.tensor([0, 2, 3, 3, 4]), torch.tensor([1, 2, 0, 1])
    yield "to csr", torch._convert_indices_from_coo_to_csr(rows, 5), torch._convert_indices_from_coo_to_csr(rows, 4, out_int32=True)
    yield "to coo", torch._convert_indices_from_csr_to_coo(starts, columns), torch._convert_indices_from_csr_to_coo(starts, columns, out_int32=True, transpose=True)
    yield "shape", torch._shape_as_tensor(torch.ones(2, 3))
    lists = [[torch.ones(2), torch.ones(3, dtype=torch.float64), torch.zeros(1)], [torch.ones(2), None, torch.zeros(1)]]
    groups = torch.optim.Optimizer._group_tensors_by_device_and_dtype(lists, with_indices=True)
    yield "groups", sorted((str(device), str(dtype), len(held), places) for (device, dtype), (held, places) in groups.items())
    aten, x = torch.ops.aten, [torch.ones(2), torch.ones(3)]
    yield "lists", aten._foreach_add(x, 2.0), aten._foreach_mul.List(x, x), aten._foreach_norm.Scalar(x), aten._foreach_sqrt_(x), aten._foreach_add_.Scalar(x, 1), x
    yield "overloads", {n: sorted(o for o in getattr(aten, f"_foreach_{n}").overloads() if "out" not in o) for n in ("add", "pow", "pow_", "lerp_", "addcdiv", "exp_")}
    yield "fork", torch.cuda._is_in_bad_fork()


@case("asked_by_suites.arrays_of_words")
def _(torch):
    """`TestCase.assertEqual` of arrays that are no numbers: item by item."""
    from importlib import import_module

    import numpy as np

    test = type("Test", (import_module(torch.__name__ + ".testing._internal.common_utils").TestCase,), {})()
    words, anything = np.array(["a", "b"]), np.array([None, 3], dtype=object)
    part = torch.utils.data.Subset
    for name, x, y in (("equal", words, words.copy()), ("other", words, np.array(["a", "c"])), ("shorter", words[:1], words), ("list", words, ["a", "b"]),
                       ("objects", anything, anything.copy()), ("parts of sets", part("abc", [1, 2]), part("xbc", [1, 2]))):
        try:
            test.assertEqual(x, y)
            yield name, "equal"
        except AssertionError as e:
            yield name, str(e).splitlines()[0]
    guards = import_module(torch.__name__ + "._guards")
    yield "nothing traced", guards.detect_fake_mode(), guards.active_fake_mode(), guards.TracingContext.try_get()


def _words(f):
    """"ok", or the class and words of a refusal."""
    try:
        f()
    except (RuntimeError, TypeError, ValueError, NotImplementedError) as refused:
        return type(refused).__name__, str(refused)
    return "ok"


@case("asked_by_suites.layers_and_their_functions")
def _(torch):
    """Convolutions begin alike in every format; `fold` without blocks; running statistics with tangents; sparse gradients detached in place."""
    F, fw = torch.nn.functional, torch.autograd.forward_ad
    conv = torch.nn.Conv3d(2, 3, 2)
    for form in (torch.contiguous_format, torch.channels_last_3d):
        conv.to(memory_format=form)
        torch.manual_seed(42)
        conv.reset_parameters()
        yield str(form), conv.weight.detach().contiguous(), conv.bias.detach(), conv.weight.requires_grad, conv.weight.is_contiguous(memory_format=form)
    yield "no blocks", _words(lambda: F.fold(torch.zeros(1, 12, 12), (4, 5), (2, 2), dilation=8))
    yield "too large", _words(lambda: F.fold(torch.zeros(3, 7), 16, 7318349394477056))
    for training in (False, True):
        for which in ((0,), (1, 2), (0, 1), (0, 2)):
            given = [torch.ones(3, 2), torch.zeros(2), torch.ones(2)]
            with fw.dual_level():
                given = [fw.make_dual(x, torch.ones_like(x)) if i in which else x for i, x in enumerate(given)]
                yield f"{training} {which}", _words(lambda given=given, training=training: F.batch_norm(*given, training=training))
    pytree = importlib.import_module(torch.__name__ + ".utils._pytree")
    for i, kw in enumerate(({"field_names": ["x", "q"]}, {"field_names": ["x", "y"], "drop_field_names": ["y"]}, {"drop_field_names": ["y"]})):
        made = dataclasses.make_dataclass("Made", [("x", int), ("y", int, 0)])
        yield f"fields {i}", _words(lambda made=made, kw=kw: pytree.register_dataclass(made, **kw)), len(pytree.tree_leaves(made(1, 2)))
    table = torch.nn.Embedding(4, 2, sparse=True)
    table(torch.tensor([1, 1])).sum().backward()
    grad = table.weight.grad
    yield "detached", grad.detach_() is grad, grad.requires_grad
    x = grad.clone().requires_grad_() * 2
    yield "history", x.grad_fn is not None, x.detach_() is x, x.grad_fn, x.requires_grad, x.to_dense()
