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
