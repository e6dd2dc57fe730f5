"""What the test suites of libraries ask: unmodified suites found these."""

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
