"""Filters, colours, geometry, losses, morphology and augmentations of images; each with a gradient."""

import kornia as K
import torch


def program():
    torch.set_default_dtype(torch.float64)
    image = torch.rand(2, 3, 12, 12, requires_grad=True)
    labels, turn = torch.zeros(2, 12, 12, dtype=torch.int64), torch.eye(2, 3)[None].repeat(2, 1, 1) + 0.1
    for name, f in {
        "gaussian": lambda: K.filters.gaussian_blur2d(image, (3, 3), (1.0, 1.0)),
        "sobel": lambda: K.filters.sobel(image),
        "canny": lambda: K.filters.canny(image)[0],
        "median": lambda: K.filters.median_blur(image, (3, 3)),
        "bilateral": lambda: K.filters.bilateral_blur(image, (3, 3), 0.1, (1.0, 1.0)),
        "hsv": lambda: K.color.rgb_to_hsv(image),
        "lab": lambda: K.color.rgb_to_lab(image),
        "rotate": lambda: K.geometry.rotate(image, torch.tensor([30.0, 45.0])),
        "affine": lambda: K.geometry.warp_affine(image, turn, (8, 8)),
        "resize": lambda: K.geometry.resize(image, (8, 8), antialias=True),
        "pyramid": lambda: K.geometry.pyrdown(image),
        "ssim": lambda: K.losses.ssim_loss(image, image.detach() * 0.5, 5),
        "dice": lambda: K.losses.dice_loss(image, labels),
        "focal": lambda: K.losses.focal_loss(image, labels, 0.5, reduction="mean"),
        "dilation": lambda: K.morphology.dilation(image, torch.ones(3, 3)),
        "harris": lambda: K.feature.harris_response(image[:, :1]),
        "soft_argmax": lambda: K.geometry.spatial_soft_argmax2d(image),
    }.items():
        out = f()
        yield name, out.double().sum(), torch.autograd.grad(out.pow(2).mean(), image)[0].abs().sum()
    for step in (K.augmentation.RandomHorizontalFlip(p=0.5), K.augmentation.RandomAffine(15.0, p=1.0), K.augmentation.RandomErasing(p=1.0),
                 K.augmentation.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0), K.augmentation.RandomCrop((8, 8)), K.augmentation.RandomPerspective(p=1.0)):
        torch.manual_seed(0)
        yield type(step).__name__, step(image.detach()).sum((2, 3))
