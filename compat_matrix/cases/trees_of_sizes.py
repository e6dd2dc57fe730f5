"""torch.utils._pytree: sizes are taken apart, constants have no leaves, forms made by hand, and what is refused in which words."""

from importlib import import_module

from compat_matrix.case import attempt, case, warned


def _of(torch):
    return import_module(f"{torch.__name__}.utils._pytree")


@case("trees_of_sizes.sizes")
def _(torch):
    pt, size = _of(torch), torch.Size([1, 2])
    spec = pt.tree_structure(size)
    yield "leaves", pt.tree_leaves([size, 3]), repr(spec), spec.num_leaves, pt.tree_map(lambda n: (n,), size), pt.treespec_dumps(spec)
    yield "put together", pt.tree_unflatten([5, 6], spec), pt.treespec_loads(pt.treespec_dumps(spec)) == spec, pt.treespec_pprint(spec)
    yield "paths", [(pt.keystr(k), n) for k, n in pt.tree_flatten_with_path({"a": size})[0]]
    yield "other kinds", attempt(lambda: spec.flatten_up_to((1, 2))), attempt(lambda: pt.tree_map(lambda a, b: a + b, (1, 2), size))
    yield "of a map", attempt(lambda: torch.vmap(lambda x: x.shape)(torch.ones(2, 3))), torch.vmap(lambda x, s: x.reshape(s), in_dims=(0, None))(torch.ones(2, 3), torch.Size([3, 1]))
    yield "of a product", attempt(lambda: torch.func.jacrev(lambda x: (x, x.shape))(torch.ones(2)))
    yield "beside it", attempt(lambda: torch.func.vjp(lambda x: (x, x.shape), torch.ones(2), has_aux=True)[2])


@case("trees_of_sizes.forms")
def _(torch):
    pt = _of(torch)
    leaf = pt.treespec_leaf()
    yield "made", repr(pt.treespec_tuple([leaf, leaf])), repr(pt.treespec_tuple()), repr(pt.treespec_dict({"b": leaf}, a=leaf)), pt.treespec_tuple([leaf]) == pt.tree_structure((1,))
    yield "made of others", attempt(lambda: pt.treespec_tuple([1])), attempt(lambda: pt.treespec_dict({"a": 1})), attempt(lambda: pt.tree_unflatten([1], 1))
    yield "arguments", pt.arg_tree_leaves(1, [2], a={"b": 3}), pt.arg_tree_leaves()
    for name, a, b in (("keys", {"a": 1}, {"b": 1}), ("more keys", {"a": 1}, {"a": 1, "b": 2}), ("fewer", {"a": 1, "b": 2}, {"a": 1})):
        yield name, attempt(lambda: pt.tree_map(lambda x, y: 0, a, b))
    yield "which", attempt(lambda: pt.tree_map_only(3, lambda x: 0, [1])), attempt(lambda: pt.tree_map_only(None, lambda x: 0, [1])), pt.tree_map_only((int, str), lambda x: 0, [1, "a", 2.5])


@case("trees_of_sizes.classes")
def _(torch):
    pt = _of(torch)

    class Pair:
        def __init__(self, *parts):
            self.parts = parts

    class Word:
        def __init__(self, text):
            self.text = text

        def __eq__(self, other):
            return type(other) is Word and self.text == other.text

        def __hash__(self):
            return hash(self.text)

    take, make = (lambda x: (list(x.parts), None)), (lambda parts, context: Pair(*parts))
    yield "half a text", str(attempt(lambda: pt.register_pytree_node(type("Half", (), {}), take, make, to_dumpable_context=str)))[-40:]
    yield "older name", warned(lambda: pt._register_pytree_node(Pair, take, make)), warned(lambda: pt._register_pytree_node(Pair, take, make))
    for f in (pt.tree_flatten_with_path, pt.tree_leaves_with_path):
        yield f.__name__, str(attempt(lambda: f([Pair(1)])))[:60]
    yield "constant", pt.register_constant(Word), pt.tree_leaves([Word("a"), 2]), pt.is_constant_class(Word), pt.is_constant_class(Pair)
    yield "kept", pt.tree_map(lambda n: n + 1, [Word("a"), 2])[0] == Word("a"), pt.tree_structure([Word("a")]) == pt.tree_structure([Word("b")])
    yield "no constants", str(attempt(lambda: pt.register_constant(Pair)))[-60:], str(attempt(lambda: pt.register_constant(list)))[-60:]
