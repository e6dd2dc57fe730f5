"""Addresses and storages as programs look at them: which tensors share memory, and what a pointer reads."""

import ctypes

from compat_matrix.case import case


def read(t, n):
    return list((ctypes.c_float * n).from_address(t.data_ptr()))


@case("everyday.memory.pointers")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    yield "contents", read(x, 6), read(x[1], 3), read(x.t(), 6)
    p = x.data_ptr()
    x.mul_(2)
    yield "after a write", x.data_ptr() == p, read(x, 6)
    yield "views", x[1].data_ptr() - x.data_ptr(), x.t().data_ptr() == x.data_ptr(), x.clone().data_ptr() == x.data_ptr(), x.detach().data_ptr() == x.data_ptr()
    yield "same", x.is_set_to(x.view(2, 3)), x.is_set_to(x[0]), torch.zeros(0).data_ptr()


@case("everyday.memory.storages")
def _(torch):
    x = torch.arange(6, dtype=torch.int16).reshape(2, 3)
    s, u = x.untyped_storage(), x.t().untyped_storage()
    yield "bytes", s.nbytes(), len(s), s.size(), s.tolist(), s[2], s.element_size()
    yield "shared", s.data_ptr() == u.data_ptr(), s.data_ptr() == x.clone().untyped_storage().data_ptr()
    yield "device", s.device, s.is_cuda, type(s).__name__
    t = x[1]._typed_storage()
    yield "typed", t.tolist(), len(t), t.nbytes(), t.dtype, type(t).__name__, t.untyped().nbytes()
    yield "is", torch.is_storage(s), torch.is_storage(x), isinstance(s, torch.UntypedStorage)
    b = torch.ones(2, dtype=torch.bfloat16)
    yield "bfloat16", b.untyped_storage().tolist()


@case("everyday.memory.dlpack")
def _(torch):
    x = torch.arange(6.0).reshape(2, 3)
    yield "in", torch.from_dlpack(x.numpy() * 2), torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    yield "device", [int(n) for n in x.__dlpack_device__()]
    for make in (lambda: x.clone().requires_grad_().__dlpack__(),):
        try:
            make()
        except BufferError as e:
            yield "grad", str(e)


@case("everyday.memory.futures")
def _(torch):
    f, seen = torch.futures.Future(), []
    g = f.then(lambda done: done.value() + 1)
    f.add_done_callback(lambda done: seen.append(done.done()))
    yield "before", f.done(), g.done()
    f.set_result(3)
    yield "after", f.wait(), g.wait(), seen, torch.futures.wait_all([f, g])
    bad = torch.futures.Future()
    bad.set_exception(KeyError("a"))
    try:
        bad.wait()
    except KeyError as e:
        yield "error", str(e)
