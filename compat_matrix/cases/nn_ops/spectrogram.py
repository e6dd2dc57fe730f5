"""Short-time transforms and their inverse; finite differences; refusals."""

from compat_matrix.cases.nn_ops import reals
from compat_matrix.probes import fails, probe, table

X, Y = reals(24), reals(2, 24)
WIN = "torch.hann_window(8, dtype=torch.float64)"
rows = [(f"stft {n}", f"torch.stft({e}, return_complex=True)", {"x": X, "y": Y}) for n, e in {
    "plain": "x, 8", "rows": f"y, 8, 2, window={WIN}", "outside": f"y, 8, 3, window={WIN}, center=False", "normalized": "x, 8, 2, normalized=True", "whole": "x, 8, 2, onesided=False",
    "complex": f"torch.complex(x, x * 2), 8, 2, window={WIN}", "constant": "x, 8, 2, pad_mode='constant'", "short": f"x, 8, 2, 6, {WIN}[:6]", "short ones": "x, 9, 2, 6"}.items()]
rows += [("stft real", "torch.stft(x, 8, 2, return_complex=False)", {"x": X}), ("stft method", "x.stft(8, 4, return_complex=True)", {"x": X}),
         ("stft window", "torch.stft(x, 8, 4, window=w, return_complex=True)", {"x": X, "w": reals(8)}),
         ("stft float32", "torch.stft(x.detach().float(), 8, 4, return_complex=True)", {"x": X})]
SPECTRUM = f"torch.stft(x, 8, 2, window={WIN}, return_complex=True)"
rows += [(f"istft {n}", f"torch.istft({e})", {"x": X, "s": reals(2, 5, 13)}) for n, e in {
    "back": f"{SPECTRUM}, 8, 2, window={WIN}", "any": f"torch.complex(s, s * 2), 8, 2, window={WIN}", "length": f"{SPECTRUM}, 8, 2, window={WIN}, length=22",
    "longer": f"{SPECTRUM}, 8, 2, window={WIN}, length=30", "ones": "torch.complex(s, s), 8, 2, center=False", "short": f"torch.complex(s, s), 8, 2, 4, {WIN}[2:6]",
    "normalized": f"torch.complex(s, s), 8, 2, window={WIN}, normalized=True",
    "whole": f"torch.stft(x, 8, 2, window={WIN}, onesided=False, return_complex=True), 8, 2, window={WIN}, onesided=False, return_complex=True"}.items()]
rows += [(f"gradient {n}", f"torch.gradient({e})", {"x": X, "y": Y}) for n, e in {
    "plain": "x", "spacing": "y, spacing=2.0, dim=1", "both": "y, spacing=(2.0, 0.5)", "second order": "y, dim=1, edge_order=2",
    "places": "y, spacing=(torch.tensor([0.0, 3.0]).double(), torch.arange(24.0).double() ** 2)", "places second order": "x, spacing=(torch.arange(24.0).double() ** 2,), edge_order=2",
    "integers": "(y * 10).long(), dim=1"}.items()]
table("nn_ops.spectrogram", probe, rows)

table("nn_ops.spectrogram.refused", fails, [(n, e, {"x": X, "y": Y, "s": reals(2, 5, 13)}) for n, e in {
    "return": "torch.stft(x, 8)", "window": f"torch.stft(x, 8, 2, 6, {WIN}, return_complex=True)", "sided": "torch.stft(x + 0j, 8, onesided=True, return_complex=True)",
    "long": "torch.stft(x, 100, return_complex=True)", "zero": "torch.stft(x, 0, return_complex=True)", "hop": "torch.stft(x, 8, 0, return_complex=True)",
    "win": "torch.stft(x, 8, 2, 9, return_complex=True)", "rank": "torch.stft(y[None], 8, return_complex=True)", "type": "torch.stft(x.long(), 8, return_complex=True)",
    "back window": f"torch.istft(torch.complex(s, s), 8, 2, window={WIN}, center=False)", "back complex": "torch.istft(torch.complex(s, s), 8, 2, return_complex=True)",
    "back whole": "torch.istft(torch.complex(s, s), 8, 2, onesided=False)", "back real": "torch.istft(s, 8, 2)", "back size": "torch.istft(torch.complex(s, s), 10, 2)",
    "back hop": "torch.istft(torch.complex(s, s), 8, 9)", "back rank": "torch.istft(torch.complex(s, s)[0, 0], 8, 2)",
    "back win": f"torch.istft(torch.complex(s, s), 8, 2, 4, window={WIN})", "gradient edge": "torch.gradient(y, edge_order=2)", "gradient order": "torch.gradient(y, edge_order=3)",
    "gradient dims": "torch.gradient(y, dim=(0, 0))", "gradient spacing": "torch.gradient(y, spacing=(1.0, 2.0, 3.0))",
    "gradient dim": "torch.gradient(y, dim=2)",
}.items()])
