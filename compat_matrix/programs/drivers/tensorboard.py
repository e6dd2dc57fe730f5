"""Event files of everything that can be written, read again with the package's own reader."""

import os
import tempfile

import torch
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from torch.utils.tensorboard import SummaryWriter


def written(folder):
    with SummaryWriter(folder) as w:
        w.add_scalar("loss", torch.tensor(1.5, requires_grad=True) * 2, 1, walltime=5.0)
        w.add_scalar("new", 3, 2, walltime=5.0, new_style=True)
        w.add_histogram("spread", torch.linspace(-1, 2, 50), 1, walltime=5.0)
        w.add_histogram("few", torch.arange(10.0), bins="auto", max_bins=3, walltime=5.0)
        w.add_text("words", "some *text*", 3, walltime=5.0)
        w.add_image("picture", torch.linspace(0, 1, 60).reshape(3, 4, 5), walltime=5.0)
        w.add_images("pictures", torch.linspace(0, 1, 48).reshape(3, 1, 4, 4), walltime=5.0)
        w.add_pr_curve("curve", torch.tensor([0, 1, 1, 0, 1]), torch.tensor([0.1, 0.9, 0.4, 0.6, 0.8]), num_thresholds=5, walltime=5.0)
        w.add_audio("sound", torch.linspace(-1, 1, 20).reshape(1, -1), sample_rate=8000, walltime=5.0)
        w.add_mesh("mesh", torch.ones(1, 3, 3), faces=torch.tensor([[[0, 1, 2]]]), walltime=5.0)
        w.add_embedding(torch.arange(6.0).reshape(3, 2), metadata=["x", "y", "z"], global_step=4)
        w.add_scalars("both", {"a": 1.0, "b": 2.0}, 1, walltime=5.0)
        w.add_hparams({"lr": 0.1}, {"accuracy": 0.5}, run_name="run")


def events(folder):
    for place, _, files in sorted(os.walk(folder)):
        for file in sorted(files):
            path = os.path.join(place, file)
            if file.startswith("events"):
                for event in LegacyEventFileLoader(path).Load():
                    yield from (str(value) for value in event.summary.value)
            elif file.endswith(("tsv", "pbtxt")):
                with open(path) as text:
                    yield text.read()


def refused(f):
    try:
        f()
    except Exception as e:
        return type(e).__name__, str(e)


def program():
    with tempfile.TemporaryDirectory() as folder:
        written(folder)
        for i, text in enumerate(events(folder)):
            yield f"event {i}", text
        with SummaryWriter(folder) as w:
            yield "refused", refused(lambda: w.add_scalar("a", torch.ones(2))), refused(lambda: w.add_scalar("a", None)), refused(
                lambda: w.add_histogram("h", torch.zeros(0))), refused(lambda: w.add_image("i", torch.ones(2, 2)))
