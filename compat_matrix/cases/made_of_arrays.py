"""Tensors made of NumPy arrays: how they lie in memory."""

import warnings

import numpy as np

from compat_matrix.case import case


@case("made_of_arrays.strides")
def _(torch):
    """Tensors made of arrays lie in memory as those do; copies where these have no gaps."""
    block = np.arange(24.0).reshape(2, 3, 4)
    arrays = {"columns": np.asfortranarray(block[0]), "turned": block.transpose(2, 0, 1), "gaps": block[0][:, ::2], "rows": block[0][1:],
              "repeated": np.broadcast_to(block[0, 0], (2, 4)),
              "one": np.ones((1, 3)).T}
    makers = {"tensor": torch.tensor, "as_tensor": torch.as_tensor, "asarray": torch.asarray, "copied": lambda a: torch.asarray(a, copy=True),
              "cast": lambda a: torch.tensor(a, dtype=torch.float32),
              "new_tensor": torch.ones(1).new_tensor, "Tensor": torch.Tensor, "DoubleTensor": torch.DoubleTensor}
    for name, a in arrays.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for how, make in makers.items():
                t = make(a)
                yield f"{name}, {how}", t, t.stride(), t.is_contiguous(), (t * 2).stride(), t.reshape(-1)
