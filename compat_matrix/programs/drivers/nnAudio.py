"""Spectrograms as layers whose filters can be trained: values, gradients of the signal and of the filters."""

import warnings

import torch


def told(layer, signal):
    x = signal.clone().requires_grad_()
    out = layer(x)
    out.pow(2).mean().backward()
    return out.sum(-1).detach(), x.grad[:, ::100], [p.grad.flatten()[::97] for p in layer.parameters() if p.grad is not None]


def program():
    warnings.simplefilter("ignore")
    from nnAudio import features

    signal = torch.randn(1, 4000)
    common = {"sr": 8000, "verbose": False}
    yield "STFT", *told(features.STFT(n_fft=256, hop_length=64, trainable=True, output_format="Magnitude", **common), signal)
    yield "Mel", *told(features.MelSpectrogram(n_fft=256, n_mels=20, hop_length=128, trainable_mel=True, **common), signal)
    yield "MFCC", *told(features.MFCC(n_mfcc=8, n_fft=256, n_mels=20, hop_length=128, **common), signal)
    yield "CQT", *told(features.CQT1992v2(hop_length=256, fmin=220, n_bins=24, trainable=True, **common), signal)
    yield "Gammatone", *told(features.Gammatonegram(n_fft=256, n_bins=16, hop_length=128, **common), signal)
    spectrum = features.STFT(n_fft=256, hop_length=64, output_format="Complex", iSTFT=True, **common)(signal)
    yield "back", features.iSTFT(n_fft=256, hop_length=64, **common)(spectrum, onesided=True, length=4000)[:, ::50].float()  # float64 by its window
