"""Words for mistakes that are made seldom: bilinear layers, transforms of frames, writes at no index, maxima put back."""

from ..case import case


def _told(call):
    try:
        out = call()
        return out.sum() if out.numel() > 40 else out
    except (RuntimeError, TypeError, IndexError, ValueError) as e:
        return type(e).__name__, str(e)


@case("words_of_seldom_mistakes.bilinear")
def _(torch):
    def ones(*shape):
        return torch.ones(*shape)

    calls = {"no dims": (ones(()), ones(()), ones(1, 1, 1)), "bias of two dims": (ones(2, 3), ones(2, 4), ones(5, 3, 4), ones(5, 1)),
             "weight of four dims": (ones(2, 3), ones(2, 4), ones(5, 3, 4, 1)), "weight of two dims": (ones(2, 3), ones(2, 4), ones(5, 3)),
             "bias of one": (ones(2, 3), ones(2, 4), ones(5, 3, 4), ones(1)), "vectors": (ones(3), ones(4), ones(5, 3, 4))}
    for name, given in calls.items():
        yield name, _told(lambda: torch.nn.functional.bilinear(*given))


@case("words_of_seldom_mistakes.frames")
def _(torch):
    signal, hann = torch.arange(16.0), torch.hann_window(4)
    frames = torch.stft(signal, 4, return_complex=True, window=hann)
    calls = {"negative size": lambda: torch.stft(signal, -4, return_complex=True, window=hann), "size is float": lambda: torch.stft(signal, 4.0, return_complex=True),
             "too many dims": lambda: torch.istft(frames[None, None], 4, window=hann), "complex window": lambda: torch.istft(frames, 4, window=torch.ones(4, dtype=torch.complex64)),
             "of length 0": lambda: torch.istft(frames, 4, length=0, window=hann), "of length -1": lambda: torch.istft(frames, 4, length=-1, window=hann)}
    for name, f in calls.items():
        yield name, _told(f)


@case("words_of_seldom_mistakes.writes")
def _(torch):
    y, x = torch.zeros(2, 3), torch.tensor(1.0)
    calls = {"one value": lambda: y.index_put([], torch.tensor(1.0)), "values": lambda: y.index_put([], torch.ones(2, 3)), "no dims": lambda: x.index_put([], torch.ones(())),
             "added": lambda: y.index_put([], torch.tensor(1.0), True), "in place": lambda: y.clone().index_put_((), torch.tensor(1.0))}
    for name, f in calls.items():
        yield name, _told(f)
    F = torch.nn.functional
    for shape in ((1, 0, 1, 4), (1, 1, 0, 4), (1, 0, 4), (2, 1, 0), (0, 1, 1, 4)):
        for n, s in ((1, shape[:3]), (2, shape), (3, (*shape, 2))):
            yield f"unpool {n} {shape}", _told(lambda: getattr(F, f"max_unpool{n}d")(torch.ones(s), torch.ones(s, dtype=torch.int64), 2))
    yield "outside", _told(lambda: F.max_unpool2d(torch.ones(1, 1, 1, 4), torch.tensor([[[[0, 2, 40, 60]]]]), 2))
