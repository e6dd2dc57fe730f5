"""SciPy's array API: its functions, written for any array library, compute with tensors; where they are made of operators alone, gradients go through."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

import torch
from scipy import cluster, constants, differentiate, fft, integrate, ndimage, signal, special, stats
from scipy.optimize import elementwise
from scipy.spatial.transform import Rotation


def program():
    torch.set_default_dtype(torch.float64)
    x = torch.linspace(0.1, 2.0, 12)
    yield "special", special.logsumexp(x.reshape(3, 4), axis=1), special.log_softmax(x), special.xlogy(x, x), special.erf(x), special.expit(x)
    leaf = x.clone().requires_grad_()
    total = special.logsumexp(leaf) + stats.variation(leaf) + stats.zscore(leaf).pow(3).sum()
    yield "gradient", total, torch.autograd.grad(total, leaf)
    yield "moments", stats.skew(x), stats.kurtosis(x), stats.sem(x), stats.gmean(x), stats.pmean(x, 3.0), stats.entropy(x), stats.moment(x, 3)
    seen = stats.ttest_ind(x, x.flip(0).exp())
    yield "test", seen.statistic, seen.pvalue, stats.pearsonr(x, x.sin()).statistic
    yield "fourier", fft.fft(x), fft.irfft(fft.rfft(x)), fft.fftfreq(8, xp=torch), fft.fftshift(x)
    yield "windows", signal.windows.hann(6, xp=torch), signal.windows.tukey(6, xp=torch), signal.detrend(x.square())
    yield "sections", signal.sosfilt(torch.tensor([[0.2, 0.3, 0.1, 1.0, -0.4, 0.1]]), x)
    yield "convolved", signal.fftconvolve(x, x[:3], mode="same"), signal.hilbert(x), ndimage.gaussian_filter(x.reshape(3, 4), 1.0)
    yield "integrals", integrate.trapezoid(x, dx=0.1), integrate.cumulative_trapezoid(x, dx=0.1), integrate.simpson(x, dx=0.1)
    found = integrate.tanhsinh(lambda t, a: torch.exp(-a * t * t), torch.tensor(0.0), torch.tensor([1.0, 2.0]), args=(torch.tensor([1.0, 3.0]),))
    yield "double exponential", found.integral, found.success, found.nfev
    slope = differentiate.derivative(lambda t: torch.sin(t) * t, x[:4])
    yield "derivative", slope.df, slope.success, differentiate.jacobian(lambda z: torch.stack((z[0] * z[1], z[0].exp())), torch.tensor([1.0, 2.0])).df
    bracket = (torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0]))
    root = elementwise.find_root(lambda t, c: t**3 - c, bracket, args=(torch.tensor([2.0, 5.0]),))
    yield "root", root.x, root.success, root.nit
    low = elementwise.find_minimum(lambda t: (t - 1.0) ** 2 + t.cos(), (torch.tensor(-1.0), torch.tensor(0.5), torch.tensor(3.0)))
    yield "minimum", low.x, low.f_x
    turn = Rotation.from_euler("xyz", torch.tensor([[0.1, 0.2, 0.3], [0.4, -0.5, 0.6]]))
    yield "rotations", turn.as_quat(), turn.as_matrix(), turn.apply(torch.tensor([1.0, 2.0, 3.0])), (turn * turn.inv()).magnitude(), turn.mean().as_rotvec()
    yield "units", constants.convert_temperature(x[:3], "Celsius", "Kelvin")
    yield "clusters", cluster.vq.whiten(x.reshape(6, 2)), cluster.hierarchy.linkage(x.square().reshape(6, 2), "ward")
