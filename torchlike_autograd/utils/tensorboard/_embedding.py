"""Points for tensorboard's projector: tables of their coordinates and names, a sheet of small pictures, and the file that lists them."""

import math
import os

import numpy as np
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo

from ._utils import make_grid

__all__ = ["get_embedding_info", "make_mat", "make_sprite", "make_tsv"]


def make_tsv(metadata, save_path, metadata_header=None):
    """metadata.tsv: one name, or a row of them, for each point."""
    if not metadata_header:
        rows = [str(x) for x in metadata]
    else:
        if len(metadata_header) != len(metadata[0]):
            raise AssertionError("len of header must be equal to the number of columns in metadata")
        rows = ["\t".join(str(x) for x in row) for row in [metadata_header, *metadata]]
    with open(os.path.join(save_path, "metadata.tsv"), "wb") as file:
        file.write(("\n".join(rows) + "\n").encode("utf8"))


def make_sprite(label_img, save_path):
    """sprite.png: the pictures (N, C, H, W) on a square sheet."""
    from PIL import Image

    side = math.ceil(math.sqrt(len(label_img)))
    cells = np.zeros((side * side, *label_img.shape[1:]), dtype=label_img.dtype)
    cells[:len(label_img)] = label_img
    sheet = make_grid(cells, ncols=side).transpose(1, 2, 0)
    Image.fromarray((sheet * (1 if sheet.dtype == np.uint8 else 255)).clip(0, 255).astype(np.uint8)).save(os.path.join(save_path, "sprite.png"))


def make_mat(matlist, save_path):
    """tensors.tsv: the coordinates."""
    with open(os.path.join(save_path, "tensors.tsv"), "wb") as file:
        for row in matlist:
            file.write(("\t".join(str(x.item()) for x in row) + "\n").encode("utf8"))


def get_embedding_info(metadata, label_img, subdir, global_step, tag):
    """How the projector finds the files of one set of points."""
    info = EmbeddingInfo(tensor_name=f"{tag}:{str(global_step).zfill(5)}", tensor_path=f"{subdir}/tensors.tsv")
    if metadata is not None:
        info.metadata_path = f"{subdir}/metadata.tsv"
    if label_img is not None:
        info.sprite.image_path = f"{subdir}/sprite.png"
        info.sprite.single_image_dim.extend([label_img.shape[3], label_img.shape[2]])
    return info
