"""torch.utils.tensorboard.summary (layer 9): what is shown, as messages of the `tensorboard` package."""

import io
import wave

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from ._convert_np import make_np
from ._curves import compute_curve, custom_scalars, hparams, mesh, pr_curve, pr_curve_raw
from ._utils import convert_to_HWC

__all__ = ["audio", "compute_curve", "custom_scalars", "histogram", "histogram_raw", "hparams", "image", "image_boxes", "make_histogram", "make_image",
           "mesh", "pr_curve", "pr_curve_raw", "scalar", "tensor_proto", "text", "video"]

_KINDS = {"float32": ("DT_FLOAT", "float_val"), "float64": ("DT_DOUBLE", "double_val"), "int8": ("DT_INT8", "int_val"), "uint8": ("DT_UINT8", "int_val"),
          "int16": ("DT_INT16", "int_val"), "int32": ("DT_INT32", "int_val"), "int64": ("DT_INT64", "int64_val"), "bool": ("DT_BOOL", "bool_val")}


def _plugin(name, content=b""):
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content))


def _sizes(*sizes):
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in sizes])


def scalar(name, tensor, collections=None, new_style=False, double_precision=False):
    """One number."""
    tensor = make_np(tensor).squeeze()
    if tensor.ndim != 0:
        raise AssertionError(f"Tensor should contain one element (0 dimensions).             Was given size: {tensor.size} and {tensor.ndim} dimensions.")
    number = float(tensor)
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=number)])
    proto = TensorProto(double_val=[number], dtype="DT_DOUBLE") if double_precision else TensorProto(float_val=[number], dtype="DT_FLOAT")
    return Summary(value=[Summary.Value(tag=name, tensor=proto, metadata=_plugin("scalars"))])


def tensor_proto(tag, tensor):
    """A tensor as it is; ValueError for a dtype that has no field."""
    array = make_np(tensor)
    if array.dtype.name not in _KINDS:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    kind, field = _KINDS[array.dtype.name]
    proto = TensorProto(dtype=kind, tensor_shape=_sizes(*array.shape), **{field: array.reshape(-1).tolist()})
    return Summary(value=[Summary.Value(tag=tag, tensor=proto, metadata=_plugin("tensor"))])


def histogram_raw(name, min, max, num, sum, sum_squares, bucket_limits, bucket_counts):
    """Buckets that were counted before."""
    histo = HistogramProto(min=min, max=max, num=num, sum=sum, sum_squares=sum_squares, bucket_limit=bucket_limits, bucket=bucket_counts)
    return Summary(value=[Summary.Value(tag=name, histo=histo)])


def histogram(name, values, bins, max_bins=None):
    """How often values fall into buckets."""
    return Summary(value=[Summary.Value(tag=name, histo=make_histogram(make_np(values).astype(float), bins, max_bins))])


def make_histogram(values, bins, max_bins=None):
    """The buckets from the one before the first that is not empty to the last that is not; ValueError for no values."""
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        together = len(counts) // max_bins
        counts = np.pad(counts, (0, -len(counts) % together)).reshape(-1, together).sum(axis=1)
        limits = np.append(limits[:-1:together], limits[-1])
    if counts.size == 0 or limits.size == 0:
        raise ValueError("The histogram is empty, please file a bug report.")
    below = np.cumsum(counts > 0)
    first, last = (int(i) for i in np.searchsorted(below, [0, below[-1] - 1], side="right"))
    counts = counts[first - 1:last + 1] if first > 0 else np.concatenate([[0], counts[:last + 1]])
    return HistogramProto(min=values.min(), max=values.max(), num=len(values), sum=values.sum(), sum_squares=values.dot(values),
                          bucket_limit=limits[first:last + 2].tolist(), bucket=counts.tolist())


def _bytes_of(tensor):
    scale = 1 if tensor.dtype == np.uint8 else 255
    return (tensor.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)


def image(tag, tensor, rescale=1, dataformats="NCHW"):
    """One picture, or several as one; floats from 0 to 1, or bytes."""
    pixels = _bytes_of(convert_to_HWC(make_np(tensor), dataformats))
    return Summary(value=[Summary.Value(tag=tag, image=make_image(pixels, rescale=rescale))])


def image_boxes(tag, tensor_image, tensor_boxes, rescale=1, dataformats="CHW", labels=None):
    """A picture with boxes (left, top, right, bottom) drawn into it."""
    pixels = convert_to_HWC(make_np(tensor_image), dataformats)
    boxes = make_np(tensor_boxes)
    pixels = (pixels.astype(np.float32) * (1 if pixels.dtype == np.uint8 else 255)).clip(0, 255).astype(np.uint8)
    return Summary(value=[Summary.Value(tag=tag, image=make_image(pixels, rescale=rescale, rois=boxes, labels=labels))])


def make_image(tensor, rescale=1, rois=None, labels=None):
    """Bytes (H, W, colours) as a PNG file."""
    from PIL import Image, ImageDraw

    height, width, colours = tensor.shape
    picture = Image.fromarray(tensor)
    for i, (left, top, right, bottom) in enumerate(() if rois is None else np.asarray(rois).reshape(-1, 4).tolist()):
        draw = ImageDraw.Draw(picture)
        draw.line([(left, top), (left, bottom), (right, bottom), (right, top), (left, top)], width=2, fill="Red")
        if labels is not None:
            draw.text((left + 1, top + 1), str(labels[i]), fill="White")
    picture = picture.resize((int(width * rescale), int(height * rescale)))
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return Summary.Image(height=height, width=width, colorspace=colours, encoded_image_string=file.getvalue())


def video(tag, tensor, fps=4):
    """Said and left out: pictures that move are not written."""
    raise NotImplementedError("torch.utils.tensorboard: add_video writes nothing here")


def audio(tag, tensor, sample_rate=44100):
    """Sound from -1 to 1, of one channel, as a WAV file."""
    samples = make_np(tensor).squeeze()
    if abs(samples).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        samples = samples.clip(-1, 1)
    if samples.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(sample_rate)
        out.writeframes((samples * np.iinfo(np.int16).max).astype("<i2").tobytes())
    sound = Summary.Audio(sample_rate=sample_rate, num_channels=1, length_frames=samples.shape[-1], encoded_audio_string=file.getvalue(),
                          content_type="audio/wav")
    return Summary(value=[Summary.Value(tag=tag, audio=sound)])


def text(tag, text):
    """A piece of Markdown."""
    proto = TensorProto(dtype="DT_STRING", string_val=[text.encode("utf_8")], tensor_shape=_sizes(1))
    return Summary(value=[Summary.Value(tag=tag + "/text_summary", metadata=_plugin("text"), tensor=proto)])
