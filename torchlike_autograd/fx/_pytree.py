"""Taking nested arguments apart along a known structure (layer 8)."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

from ..utils._pytree import PyTree, TreeSpec  # noqa: F401

SUPPORTED_NODES: dict = {}
SUPPORTED_NODES_EXACT_MATCH: dict = {}


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    """`flatten_fn_spec(x, spec)`: the children of `x` in the order of `spec`; flatten_fn_exact_match_spec: whether there are no others."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(pytree, spec, exact_structural_match=False):
    """The leaves of `pytree` in the order of `spec`; RuntimeError for a class that is not known."""
    if spec.is_leaf():
        return [pytree]
    found = SUPPORTED_NODES.get(spec.type)
    if found is None:
        raise RuntimeError(f"{type(pytree)} does not have a flatten_fn_spec associated with it. Please register one with "
                           "torch.fx._pytree.register_pytree_flatten_spec. "
                           "If you have serialized your model, make sure that any custom pytrees have been registered before loading it.")
    exact = SUPPORTED_NODES_EXACT_MATCH.get(spec.type)
    if exact_structural_match and exact is not None and not exact(pytree, spec):
        raise RuntimeError(f"Cannot flatten pytree {pytree}, given spec: {spec}")
    leaves = []
    for child, inner in zip(found(pytree, spec), spec.children()):
        leaves.extend(tree_flatten_spec(child, inner, exact_structural_match))
    return leaves


def _by_key(d, spec):
    return [d[k] for k in spec.context]


def _in_order(x, spec):
    return [x[i] for i in range(spec.num_children)]


def _same_keys(d, spec):
    return list(d) == list(spec.context)


def _same_length(x, spec):
    return len(x) == spec.num_children


for _cls in (dict, OrderedDict):
    register_pytree_flatten_spec(_cls, _by_key, _same_keys)
for _cls in (list, tuple, namedtuple):
    register_pytree_flatten_spec(_cls, _in_order, _same_length)

__all__ = ["register_pytree_flatten_spec", "tree_flatten_spec"]
