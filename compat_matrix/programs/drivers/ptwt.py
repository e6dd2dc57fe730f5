"""Wavelet transforms in one, two and three dims, packets and the continuous transform, with gradients."""

import ptwt
import pywt
import torch


def program():
    signal = torch.randn(2, 20, dtype=torch.float64, requires_grad=True)
    parts = ptwt.wavedec(signal, pywt.Wavelet("db2"), level=2)
    yield "wavedec", parts, torch.autograd.grad(sum(p.square().sum() for p in parts), signal)[0]
    yield "waverec", ptwt.waverec(parts, pywt.Wavelet("db2"))
    for mode in ("zero", "constant", "periodic", "symmetric"):
        yield mode, ptwt.wavedec(signal, "haar", mode=mode, level=2)
    image = torch.randn(2, 8, 8, dtype=torch.float64, requires_grad=True)
    whole, *details = ptwt.wavedec2(image, "haar", level=2)
    yield "wavedec2", whole, [tuple(d) for d in details]
    back = ptwt.waverec2((whole, *details), "haar")
    yield "waverec2", back, torch.autograd.grad((back**3).sum(), image)[0]
    cube = ptwt.wavedec3(torch.randn(1, 4, 4, 4, dtype=torch.float64), "haar", level=1)
    yield "wavedec3", cube[0], sorted(cube[1]), cube[1]["ddd"]
    packet = ptwt.WaveletPacket(signal, "haar", mode="reflect", maxlevel=2)
    yield "packet", [packet[k] for k in packet.get_level(2)]
    yield "cwt", ptwt.cwt(signal[0], [1, 2, 4], "cmor1.5-1.0")[0]
    yield "swt", ptwt.swt(signal[:, :16], "haar", level=2)
