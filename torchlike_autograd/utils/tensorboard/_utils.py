"""Pictures in the order height, width, colours."""

import numpy as np

__all__ = ["convert_to_HWC", "figure_to_image", "make_grid"]


def figure_to_image(figures, close=True):
    """A figure of matplotlib, or several, as bytes of shape (3, H, W) or (N, 3, H, W)."""
    import matplotlib.pyplot as plt
    from matplotlib.backends import backend_agg

    def drawn(figure):
        canvas = backend_agg.FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
        if close:
            plt.close(figure)
        return np.moveaxis(pixels, 2, 0).copy()

    return np.stack([drawn(f) for f in figures]) if isinstance(figures, list) else drawn(figures)


def make_grid(images, ncols=8):
    """Pictures (N, C, H, W), side by side, as one (3, rows * H, columns * W)."""
    if images.ndim != 4 or images.shape[1] not in (1, 3):
        raise AssertionError(f"pictures of shape (N, 1 or 3, H, W) are needed, not {images.shape}")
    if images.shape[1] == 1:
        images = np.repeat(images, 3, axis=1)
    count, colours, height, width = images.shape
    columns = min(count, ncols)
    rows = -(-count // columns)
    cells = np.zeros((rows * columns, colours, height, width), dtype=images.dtype)
    cells[:count] = images
    return cells.reshape(rows, columns, colours, height, width).transpose(2, 0, 3, 1, 4).reshape(colours, rows * height, columns * width)


def convert_to_HWC(tensor, input_format):
    """An array whose dimensions `input_format` names (NCHW, CHW, HW, in any order) as (H, W, 3); several pictures become one."""
    if len(set(input_format)) != len(input_format):
        raise AssertionError(f"You can not use the same dimension shordhand twice.         input_format: {input_format}")
    if len(tensor.shape) != len(input_format):
        raise AssertionError(f"size of input tensor and input format are different.         tensor shape: {tensor.shape}, input_format: {input_format}")
    given = input_format.upper()
    if len(given) == 4:
        return make_grid(tensor.transpose([given.find(c) for c in "NCHW"])).transpose(1, 2, 0)
    if len(given) == 3:
        tensor = tensor.transpose([given.find(c) for c in "HWC"])
        return np.concatenate([tensor] * 3, 2) if tensor.shape[2] == 1 else tensor
    if len(given) == 2:
        return np.stack([tensor.transpose([given.find(c) for c in "HW"])] * 3, 2)
    raise NotImplementedError(f"pictures of the format {input_format}")
