"""Losses of sound between two waves, each with the gradient of the first."""

import auraloss
import torch


def program():
    torch.set_default_dtype(torch.float64)
    noise = torch.randn(2, 1, 4096)
    sine = torch.sin(torch.arange(4096) * 0.05) + 0.1 * torch.randn(2, 1, 4096)
    losses = {
        "esr": auraloss.time.ESRLoss(), "dc": auraloss.time.DCLoss(), "logcosh": auraloss.time.LogCoshLoss(), "snr": auraloss.time.SNRLoss(),
        "sisdr": auraloss.time.SISDRLoss(), "sdsdr": auraloss.time.SDSDRLoss(), "stft": auraloss.freq.STFTLoss(fft_size=512, hop_size=128, win_length=512),
        "phase": auraloss.freq.STFTLoss(fft_size=256, hop_size=64, win_length=256, w_lin_mag=0.5, w_sc=0.0, mag_distance="L2"),
        "resolutions": auraloss.freq.MultiResolutionSTFTLoss([512, 256], [128, 64], [512, 256]),
    }
    for name, loss in losses.items():
        wave = sine.clone().requires_grad_()
        seen = loss(wave, noise)
        seen.backward()
        yield name, seen, wave.grad[..., ::37]
    emphasis = auraloss.perceptual.FIRFilter("hp", coef=0.9, fs=16000)
    yield "emphasis", *(wave[..., ::41] for wave in emphasis(sine, noise))
    stereo = torch.cat([sine, noise], 1).requires_grad_()
    seen = auraloss.freq.SumAndDifferenceSTFTLoss([512], [128], [512])(stereo, stereo.detach().flip(1) * 0.5)
    seen.backward()
    yield "stereo", seen, stereo.grad[..., ::37]
