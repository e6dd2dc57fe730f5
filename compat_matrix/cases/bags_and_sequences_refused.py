"""Bags of rows, padded and packed sequences, batches of samples: what is refused, in which words, and what is made of offsets that end early."""

from compat_matrix.case import attempt, case


@case("bags_and_sequences_refused.bags")
def _(torch):
    f = torch.nn.functional.embedding_bag
    i, w = torch.tensor([0, 1, 2, 3]), torch.arange(12.0).view(4, 3)
    two = torch.tensor([0, 2])
    for kind in (torch.float32, torch.float64):
        for mode in ("sum", "mean", "max"):
            for offsets, last in (([0, 3, 2], False), ([0, 2], True), ([0, 3], True), ([0, 1, 2], True), ([0, 2, 1], True), ([0, 2, 2], False), ([0, 5], True)):
                if mode == "sum" and kind is torch.float64 and offsets == [0, 2, 1]:
                    continue
                for padding in (None, 2):
                    yield f"{kind} {mode} {offsets} {last} {padding}", attempt(
                        lambda: f(i, w.to(kind), torch.tensor(offsets), mode=mode, include_last_offset=last, padding_idx=padding).tolist())
    for n, more in enumerate(({"offsets": torch.tensor([0.0, 2.0])}, {"offsets": torch.tensor([0, 2], dtype=torch.int16)},
                              {"offsets": two, "mode": "sum", "per_sample_weights": torch.ones(4, dtype=torch.float64)},
                              {"offsets": two, "mode": "sum", "per_sample_weights": torch.ones(4, dtype=torch.int64)})):
        yield f"types {n}", attempt(lambda: f(i, w, **more).tolist())
    for kind in (torch.bool, torch.uint8, torch.int16, torch.float32):
        yield f"indices {kind}", attempt(lambda: f(torch.tensor([1, 0]).to(kind), w, torch.tensor([0])).tolist())
    yield "turned", f(w, i, two)
    yield "padding", attempt(lambda: torch.nn.EmbeddingBag(4, 3, padding_idx=9)), attempt(lambda: torch.nn.Embedding(4, 3, padding_idx=9))


@case("bags_and_sequences_refused.sequences")
def _(torch):
    rnn = torch.nn.utils.rnn
    x = [torch.arange(3.0), torch.arange(2.0)]
    t = torch.arange(12.0).view(3, 4)
    yield "turned", rnn.unpad_sequence(t, torch.tensor([3, 2, 1, 0])), list(t.shape), t.stride(), t._version
    t = torch.arange(24.0).view(3, 4, 2).requires_grad_() * 1
    yield "names", rnn.unpad_sequence(t, torch.tensor([3, 2, 1, 0]))[0].grad_fn.name(), t.grad_fn.name(), list(t.shape)
    for n, f in enumerate((
            lambda: rnn.unpad_sequence(rnn.pad_sequence(x), [3, 2]), lambda: rnn.unpad_sequence(rnn.pad_sequence(x), torch.tensor([3])),
            lambda: rnn.unpad_sequence(rnn.pad_sequence(x), torch.tensor([3, 2, 1])), lambda: rnn.unpad_sequence(rnn.pad_sequence(x), torch.tensor([5, 2])),
            lambda: rnn.unpad_sequence(torch.ones(3), torch.tensor([3])), lambda: rnn.unpad_sequence(torch.ones(3), torch.tensor([3]), True),
            lambda: rnn.unpad_sequence(x, torch.tensor([3, 2])), lambda: rnn.unpad_sequence(torch.ones(2, 3), torch.tensor(3)),
            lambda: rnn.pad_sequence([1, 2]), lambda: rnn.pad_sequence([torch.ones(2), torch.ones(2, 2)]), lambda: rnn.pad_sequence(3),
            lambda: rnn.pack_padded_sequence(torch.ones(3), [3]), lambda: rnn.pack_padded_sequence(rnn.pad_sequence(x), [4, 2]),
            lambda: rnn.pad_packed_sequence(rnn.pack_sequence(x), total_length=2), lambda: rnn.pad_packed_sequence(x))):
        yield n.__str__(), attempt(f)


@case("bags_and_sequences_refused.batches")
def _(torch):
    default_collate = torch.utils.data.default_collate
    for n, batch in enumerate(([torch.ones(2), 1], torch.ones(2, 2), [torch.ones(2), torch.ones(3)], [], [None], [{"a": 1}, {"b": 2}], [[1, 2], [1]], [1, "a"],
                               ["a", 1], [1, None], [{1}], [1 + 2j], 3)):
        yield str(n), attempt(lambda: default_collate(batch))
