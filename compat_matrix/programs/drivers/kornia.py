"""Filters, colours, warps and losses with their gradients; an image registered by gradient descent; augmentation with seeds."""

import kornia
import kornia.augmentation as augmentation
import torch


def registered():
    torch.manual_seed(0)
    image = kornia.filters.gaussian_blur2d(torch.rand(1, 1, 12, 12, dtype=torch.float64), (3, 3), (1.0, 1.0))
    target, warp = torch.roll(image, 1, -1), torch.eye(3, dtype=torch.float64)[None].requires_grad_()
    optimizer, losses = torch.optim.Adam([warp], 1e-2), []
    for _ in range(4):
        optimizer.zero_grad()
        loss = (kornia.geometry.transform.warp_perspective(image, warp, (12, 12)) - target).abs().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses), warp.detach()


def program():
    x = torch.rand(1, 3, 8, 8, dtype=torch.float64, requires_grad=True)
    parts = {
        "blur": kornia.filters.gaussian_blur2d(x, (3, 3), (1.0, 1.0)), "sobel": kornia.filters.sobel(x), "median": kornia.filters.median_blur(x, (3, 3)),
        "lab": kornia.color.rgb_to_lab(x), "hsv": kornia.color.rgb_to_hsv(x), "ssim": kornia.losses.ssim_loss(x, x.detach().flip(0) * 0.9, 5),
        "variation": kornia.losses.total_variation(x), "harris": kornia.feature.harris_response(x[:, :1]),
        "dilation": kornia.morphology.dilation(x, torch.ones(3, 3, dtype=torch.float64)), "rotated": kornia.geometry.transform.rotate(
            x, torch.tensor([20.0], dtype=torch.float64))}
    for name, y in parts.items():
        yield name, y.detach(), torch.autograd.grad((y * y).sum(), x, retain_graph=True)[0]
    yield "registered", registered()
    torch.manual_seed(0)
    steps = augmentation.AugmentationSequential(augmentation.RandomHorizontalFlip(p=0.5), augmentation.RandomAffine(30.0, p=1.0),
                                                augmentation.RandomErasing(p=0.5), data_keys=["input", "mask"])
    image, mask = steps(torch.rand(2, 3, 8, 8), torch.ones(2, 1, 8, 8))
    yield "augmented", image, mask
