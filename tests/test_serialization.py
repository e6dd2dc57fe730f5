"""Files of PyTorch read here, files written here read again; `compat_matrix/record_saved.py` has made the recorded ones."""

import io
import pathlib
import pickle
import re
import zipfile

import pytest

import torchlike_autograd as torch
from compat_matrix.record_saved import content, shown

DATA = pathlib.Path(__file__).parent / "data"


@pytest.mark.parametrize("name", ["saved_by_torch.pt", "saved_by_torch.old"])
@pytest.mark.parametrize("weights_only", [True, False])
def test_a_file_of_pytorch(name, weights_only):
    got = torch.load(DATA / name, weights_only=weights_only)
    assert shown(torch, got) == shown(torch, content(torch))
    got["base"][2] = 77.0
    assert got["part"][0].item() == 77 and got["turned"][2, 0].item() == 77
    assert got["part"]._base is None and got["part"]._version == 1
    got["optimizer"]["state"][0]["exp_avg"].zero_()
    assert got["p"].requires_grad and type(got["p"]) is torch.nn.Parameter


@pytest.mark.parametrize("new", [True, False])
def test_there_and_back(new):
    f = io.BytesIO()
    torch.save(content(torch), f, _use_new_zipfile_serialization=new)
    f.seek(0)
    assert shown(torch, torch.load(f)) == shown(torch, content(torch))


def test_what_is_written_is_what_pytorch_writes():
    """The same records of the same length; the same calls of the same names in the pickle, with the same arguments."""
    f = io.BytesIO()
    torch.save(content(torch), f)
    ours, theirs = zipfile.ZipFile(f), zipfile.ZipFile(DATA / "saved_by_torch.pt")
    assert [(i.filename.partition("/")[2], i.file_size) for i in ours.infolist() if not i.filename.endswith(".pkl")] == [
        (i.filename.partition("/")[2], i.file_size) for i in theirs.infolist() if not i.filename.endswith(".pkl")]
    for i in theirs.infolist():
        part = i.filename.partition("/")[2]
        if part.startswith("data/"):
            assert ours.read("archive/" + part) == theirs.read(i.filename), part
    assert calls(ours.read("archive/data.pkl")) == calls(theirs.read("saved_by_torch/data.pkl"))


class Names(pickle.Unpickler):
    def find_class(self, module, name):
        def made(*args):
            return module, name, args

        return made if module.startswith(("torch", "collections")) and name[0] in "_" else type(name, (Anything,), {"where": module})

    def persistent_load(self, pid):
        return repr(pid[2:])


class Anything(dict):
    def __new__(cls, *args, **kwargs):
        return super().__new__(cls)

    def __init__(self, *args):
        super().__init__()
        self.args = args

    def __repr__(self):
        return f"{self.where}.{type(self).__name__}{self.args}{dict(self)}"

    def append(self, x):
        self[len(self)] = x


def calls(text):
    return re.sub("0x[0-9a-f]+", "", repr(Names(io.BytesIO(text)).load()))


def test_records_are_aligned():
    f = io.BytesIO()
    torch.save({"a": torch.ones(3), "b": torch.ones(5, dtype=torch.float64)}, f)
    for i in zipfile.ZipFile(f).infolist():
        raw = f.getvalue()
        begin = i.header_offset + 30 + int.from_bytes(raw[i.header_offset + 26:i.header_offset + 28], "little") + int.from_bytes(
            raw[i.header_offset + 28:i.header_offset + 30], "little")
        assert begin % 64 == 0


def test_pending_values_and_written_views_are_saved(tmp_path):
    x = torch.arange(4.0)
    y = x * 2
    view = y[1:3]
    view.mul_(10)
    torch.save({"y": y, "view": view}, tmp_path / "m.pt")
    got = torch.load(tmp_path / "m.pt", mmap=True)
    assert got["y"].tolist() == [0, 20, 40, 6] and got["view"].tolist() == [20, 40]
    got["view"].zero_()
    assert got["y"].tolist() == [0, 0, 0, 6]


class Payload:
    ran = []

    def __reduce__(self):
        return Payload.ran.append, (1,)


def test_code_in_a_file_is_not_run():
    f = io.BytesIO()
    torch.save(Payload(), f)
    f.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(f)
    assert Payload.ran == []


def test_masked_tensors_of_sparse_data_come_back():
    data = torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    for form in (lambda t: t.to_sparse(), lambda t: t.to_sparse_csr()):
        x = torch.masked.masked_tensor(form(data), form(data != 0))
        file = io.BytesIO()
        torch.save([x, x.get_data()], file)
        file.seek(0)
        masked, plain = torch.load(file, weights_only=False)
        assert isinstance(masked, torch.masked.MaskedTensor) and masked.layout == plain.layout == x.layout
        assert masked.to_dense().get_data().tolist() == plain.to_dense().tolist() == data.tolist()
        assert masked.get_mask().to_dense().equal(data != 0)


def test_an_optimizer_goes_on_from_a_file_of_pytorch():
    saved = torch.load(DATA / "saved_by_torch.pt")
    p = torch.nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    opt = torch.optim.Adam([p], lr=0.5)
    for _ in range(2):
        p.grad = torch.full((2, 2), 0.25)
        opt.step()
    q = saved["p"]
    other = torch.optim.Adam([q])
    other.load_state_dict(saved["optimizer"])
    for param, o in ((p, opt), (q, other)):
        param.grad = torch.full((2, 2), 0.125)
        o.step()
    assert p.tolist() == q.tolist() and opt.state[p]["step"].item() == other.state[q]["step"].item() == 3


class Ours(pickle.Unpickler):
    """What `import torch` finds under `python -m torchlike_autograd`."""

    def find_class(self, module, name):
        return super().find_class(module.replace("torch", "torchlike_autograd", 1) if module.split(".")[0] == "torch" else module, name)


def test_a_plain_pickle_of_pytorch():
    """`pickle.dump`, by PyTorch 2.13, of a dict: tensors and their bits, a layer, an optimizer's state."""
    with open(DATA / "pickled_by_torch.pkl", "rb") as f:
        got = Ours(f).load()
    assert got["tensor"].tolist() == [[0, 1, 2], [3, 4, 5]] and got["view"].tolist() == [1, 4] and got["view"].stride() == (3,)
    assert got["half"].dtype is torch.bfloat16 and got["half"].tolist() == [1, 1] and got["leaf"].requires_grad and got["leaf"].is_leaf
    assert got["bits"].is_conj() and got["bits"].tolist() == [1 - 2j] and got["wide"].dtype is torch.uint32 and got["wide"].tolist() == [1, 2]
    assert got["sparse"].is_sparse and got["sparse"].to_dense().tolist() == [[1, 0], [0, 1]] and got["empty"].shape == (0, 3)
    assert type(got["module"]) is torch.nn.Linear and type(got["module"].weight) is torch.nn.Parameter and got["module"].weight.grad is None
    assert got["module"].weight[0].tolist() == pytest.approx([-0.1043, 0.2097, -0.5752], abs=1e-4)
    optimizer = torch.optim.Adam(got["module"].parameters())
    optimizer.load_state_dict(got["optimizer"])
    assert optimizer.state[got["module"].bias]["exp_avg"].tolist() == pytest.approx([0.1, 0.1]) and optimizer.param_groups[0]["lr"] == 0.1
    assert got["size"] == torch.Size([1, 2]) and got["dtype"] is torch.float64
