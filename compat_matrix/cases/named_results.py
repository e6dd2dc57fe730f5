"""Types of named tuples: of histograms, and their counts of fields."""

from compat_matrix.case import case


@case("named_results.histograms")
def _(torch):
    r, x = torch.return_types, torch.arange(6.0)
    yield "same", type(torch.histogram(x, 2)) is r.histogram, type(torch.histogramdd(x.view(3, 2), 2)) is r.histogramdd
    yield "names", r.histogram.__name__, r.histogram_out.__name__, r.histogramdd.__name__
    made = torch.histogram(x, 2)
    yield "made", made.hist, made.bin_edges


@case("named_results.counts")
def _(torch):
    for t in (torch.return_types.max, torch.return_types.svd, torch.ones(2, 2).sort()):
        name = getattr(t, "__name__", type(t).__name__)
        yield name, t.n_fields, t.n_sequence_fields, t.n_unnamed_fields
