"""Messages of tensorboard's plugins: curves, charts, meshes, hyperparameters."""

import json

import numpy as np
from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from ..._tensor import Tensor
from ._convert_np import make_np

__all__ = ["compute_curve", "custom_scalars", "hparams", "mesh", "pr_curve", "pr_curve_raw"]

_MOST_THRESHOLDS = 127  # more would make the message too long for tensorboard
_LEAST = 1e-7           # stands for a count of nothing below a fraction


def _plugin(name, content):
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content))


def _floats(array):
    sizes = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in array.shape])
    return TensorProto(dtype="DT_FLOAT", float_val=array.reshape(-1).tolist(), tensor_shape=sizes)


# Precision and recall

def compute_curve(labels, predictions, num_thresholds=None, weights=None):
    """True and false positives, true and false negatives, precision and recall (6, num_thresholds) of predictions from 0 to 1."""
    weights = 1.0 if weights is None else weights
    place = np.int32(np.floor(predictions * (num_thresholds - 1)))
    true = labels.astype(float)

    def at_least(w):
        counts, _ = np.histogram(place, bins=num_thresholds, range=(0, num_thresholds - 1), weights=w)
        return np.cumsum(counts[::-1])[::-1]

    tp, fp = at_least(true * weights), at_least((1.0 - true) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack((tp, fp, tn, fn, tp / np.maximum(_LEAST, tp + fp), tp / np.maximum(_LEAST, tp + fn)))


def _pr_summary(tag, data, num_thresholds):
    content = PrCurvePluginData(version=0, num_thresholds=num_thresholds).SerializeToString()
    return Summary(value=[Summary.Value(tag=tag, metadata=_plugin("pr_curves", content), tensor=_floats(data))])


def pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, num_thresholds=127, weights=None):
    """A curve that was counted before."""
    return _pr_summary(tag, np.stack((tp, fp, tn, fn, precision, recall)), min(num_thresholds, _MOST_THRESHOLDS))


def pr_curve(tag, labels, predictions, num_thresholds=127, weights=None):
    """Precision and recall over thresholds."""
    n = min(num_thresholds, _MOST_THRESHOLDS)
    return _pr_summary(tag, compute_curve(labels, predictions, num_thresholds=n, weights=weights), n)


# Charts

def _chart(title, kind, tags):
    if kind == "Margin":
        if len(tags) != 3:
            raise AssertionError(len(tags))
        series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
        return layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series]))
    return layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=list(tags)))


def custom_scalars(layout):
    """Charts of several scalars: {category: {title: [kind, tags]}}."""
    categories = [layout_pb2.Category(title=name, chart=[_chart(title, *given) for title, given in charts.items()]) for name, charts in layout.items()]
    content = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[content], tensor_shape=TensorShapeProto())
    return Summary(value=[Summary.Value(tag="custom_scalars__config__", tensor=proto, metadata=_plugin("custom_scalars", b""))])


def mesh(tag, vertices, colors, faces, config_dict, display_name=None, description=None):
    """Points (B, N, 3), their colours and the triangles between them."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

    kinds = [(vertices, MeshPluginData.VERTEX), (faces, MeshPluginData.FACE), (colors, MeshPluginData.COLOR)]
    given = [(make_np(t), kind) for t, kind in kinds if t is not None]
    components = metadata.get_components_bitmask([kind for _, kind in given])
    values, config = [], json.dumps(config_dict or {}, sort_keys=True)
    for array, kind in given:
        about = metadata.create_summary_metadata(tag, display_name, kind, components, array.shape, description, json_config=config)
        values.append(Summary.Value(tag=metadata.get_instance_name(tag, kind), tensor=_floats(array), metadata=about))
    return Summary(value=values)


# Hyperparameters

def _value_of(v):
    """(a hyperparameter's value, the name of its type); ValueError for what is none."""
    if isinstance(v, (int, float)):  # bools too, as in torch
        return {"number_value": v}, "DATA_TYPE_FLOAT64"
    if isinstance(v, str):
        return {"string_value": v}, "DATA_TYPE_STRING"
    if isinstance(v, Tensor):
        return {"number_value": make_np(v)[0]}, "DATA_TYPE_FLOAT64"
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def _domain(name, v, domains):
    if name not in domains:
        return None
    values = domains[name]
    if not isinstance(values, list) or not all(isinstance(d, type(v)) for d in values):
        raise TypeError(f"parameter: hparam_domain_discrete[{name}] must be a list of same type as hparam_dict[{name}].")
    return struct_pb2.ListValue(values=[struct_pb2.Value(**_value_of(d)[0]) for d in values])


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None):
    """(the experiment, its start, its end) of one set of hyperparameters."""
    from tensorboard.plugins.hparams.api_pb2 import DataType, Experiment, HParamInfo, MetricInfo, MetricName, Status
    from tensorboard.plugins.hparams.metadata import (
        EXPERIMENT_TAG,
        PLUGIN_DATA_VERSION,
        PLUGIN_NAME,
        SESSION_END_INFO_TAG,
        SESSION_START_INFO_TAG,
    )
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo

    domains = hparam_domain_discrete or {}
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for name, which in ((hparam_dict or {}, "hparam_dict"), (metric_dict or {}, "metric_dict")):
        if not isinstance(name, dict):
            raise TypeError(f"parameter: {which} should be a dictionary, nothing logged.")
    start, infos = SessionStartInfo(), []
    for name, v in (hparam_dict or {}).items():
        if v is None:
            continue
        value, kind = _value_of(v)
        start.hparams[name].MergeFrom(struct_pb2.Value(**value))
        infos.append(HParamInfo(name=name, type=DataType.Value(kind), domain_discrete=_domain(name, v, domains)))

    def told(tag, **content):
        content = HParamsPluginData(version=PLUGIN_DATA_VERSION, **content).SerializeToString()
        return Summary(value=[Summary.Value(tag=tag, metadata=_plugin(PLUGIN_NAME, content))])

    metrics = [MetricInfo(name=MetricName(tag=k)) for k in metric_dict or {}]
    return (told(EXPERIMENT_TAG, experiment=Experiment(hparam_infos=infos, metric_infos=metrics)), told(SESSION_START_INFO_TAG, session_start_info=start),
            told(SESSION_END_INFO_TAG, session_end_info=SessionEndInfo(status=Status.Value("STATUS_SUCCESS"))))
