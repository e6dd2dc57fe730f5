"""torch.utils.tensorboard.writer (layer 9): event files."""

import os
import socket
import time
from datetime import datetime

from google.protobuf import text_format
from tensorboard.compat.proto import event_pb2
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from . import _embedding, summary
from ._convert_np import make_np
from ._utils import figure_to_image

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """One event file in a folder."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event, step=None, walltime=None):
        """Write an event, at a time and a step."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary, global_step=None, walltime=None):
        """Write what is shown."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile, walltime=None):
        """NotImplementedError: no graph is written here."""
        raise NotImplementedError("torch.utils.tensorboard: add_graph: there is no TorchScript graph to write")

    def add_onnx_graph(self, graph, walltime=None):
        """NotImplementedError: no graph is written here."""
        raise NotImplementedError("torch.utils.tensorboard: add_onnx_graph: no graph is written")

    def flush(self):
        """Write what waits."""
        self.event_writer.flush()

    def close(self):
        """Write what waits, and close the file."""
        self.event_writer.close()

    def reopen(self):
        """Go on in a new file."""
        self.event_writer.reopen()


def _default_bins():
    """Limits of buckets a tenth apart in size, on both sides of zero."""
    above, v = [], 1e-12
    while v < 1e20:
        above.append(v)
        v *= 1.1
    return [-x for x in above[::-1]] + [0] + above


class SummaryWriter:
    """Scalars, pictures, histograms, ... in event files below `log_dir` (runs/DATE_HOST without one), for tensorboard to show.

    Differs from torch: `add_graph`, `add_onnx_graph` and `add_video` raise NotImplementedError.
    """

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            log_dir = os.path.join("runs", datetime.now().strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname() + comment)
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer = self.all_writers = None
        self._get_file_writer()
        self.default_bins = _default_bins()

    def _get_file_writer(self):
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                self.file_writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=self.purge_step, session_log=SessionLog(status=SessionLog.START)))
                self.purge_step = None
        return self.file_writer

    def _add(self, shown, global_step, walltime):
        self._get_file_writer().add_summary(shown, global_step, walltime)

    def get_logdir(self):
        """The folder."""
        return self.log_dir

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """Hyperparameters and what they led to, as a run of its own."""
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        parts = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        with SummaryWriter(log_dir=os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))) as run:
            for part in parts:
                run.file_writer.add_summary(part, global_step)
            for name, value in metric_dict.items():
                run.add_scalar(name, value, global_step)

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        """One number; AssertionError for a tensor of more, NotImplementedError for what is no number."""
        self._add(summary.scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision), global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Several numbers for one chart, each in a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        home = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            place = f"{home}/{main_tag.replace('/', '_')}_{tag}"
            if place not in self.all_writers:
                self.all_writers[place] = FileWriter(place, self.max_queue, self.flush_secs, self.filename_suffix)
            self.all_writers[place].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        """A tensor as it is."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        """How values are spread; `bins` as numpy.histogram takes them."""
        bins = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(summary.histogram(tag, values, bins, max_bins=max_bins), global_step, walltime)

    def add_histogram_raw(self, tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts, global_step=None, walltime=None):
        """Buckets that were counted before."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(summary.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """A picture (3, H, W), (1, H, W), or as `dataformats` says."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Pictures side by side."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(self, tag, img_tensor, box_tensor, global_step=None, walltime=None, rescale=1, dataformats="CHW", labels=None):
        """A picture with boxes (N, 4), and their labels, drawn into it."""
        if labels is not None:
            labels = [labels] if isinstance(labels, str) else labels
            if len(labels) != box_tensor.shape[0]:
                labels = None
        self._add(summary.image_boxes(tag, img_tensor, box_tensor, rescale=rescale, dataformats=dataformats, labels=labels), global_step, walltime)

    def add_figure(self, tag, figure, global_step=None, close=True, walltime=None):
        """A figure of matplotlib, or a list of them."""
        self.add_image(tag, figure_to_image(figure, close), global_step, walltime, dataformats="NCHW" if isinstance(figure, list) else "CHW")

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        """NotImplementedError: nothing is written."""
        self._add(summary.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """Sound (1, L) from -1 to 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate=sample_rate), global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """A piece of Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_onnx_graph(self, prototxt):
        """NotImplementedError: no graph is written here."""
        self._get_file_writer().add_onnx_graph(prototxt)

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """NotImplementedError: no graph is written here."""
        self._get_file_writer().add_graph(None)

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag="default", metadata_header=None):
        """Points (N, D) for the projector, with names and small pictures (N, C, H, W)."""
        mat = make_np(mat)
        step = 0 if global_step is None else global_step
        place = tag.replace("%", f"%{ord('%'):02x}").replace("/", f"%{ord('/'):02x}").replace("\\", f"%{ord(chr(92)):02x}")
        subdir = f"{str(step).zfill(5)}/{place}"
        path = os.path.join(self._get_file_writer().get_logdir(), subdir)
        if os.path.exists(path):
            print("warning: Embedding dir exists, did you set global_step for add_embedding()?")
        else:
            os.makedirs(path)
        if metadata is not None:
            if mat.shape[0] != len(metadata):
                raise AssertionError("#labels should equal with #data points")
            _embedding.make_tsv(metadata, path, metadata_header=metadata_header)
        if label_img is not None:
            label_img = make_np(label_img)
            if mat.shape[0] != label_img.shape[0]:
                raise AssertionError("#images should equal with #data points")
            _embedding.make_sprite(label_img, path)
        if mat.ndim != 2:
            raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
        _embedding.make_mat(mat, path)
        if not hasattr(self, "_projector_config"):
            self._projector_config = ProjectorConfig()
        self._projector_config.embeddings.extend([_embedding.get_embedding_info(metadata, label_img, subdir, step, tag)])
        with open(os.path.join(self._get_file_writer().get_logdir(), "projector_config.pbtxt"), "wb") as file:
            file.write(text_format.MessageToString(self._projector_config).encode("utf8"))

    def add_pr_curve(self, tag, labels, predictions, global_step=None, num_thresholds=127, weights=None, walltime=None):
        """Precision and recall of predictions from 0 to 1 over thresholds."""
        labels, predictions = make_np(labels), make_np(predictions)
        self._add(summary.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_pr_curve_raw(self, tag, true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision, recall,
                         global_step=None, num_thresholds=127, weights=None, walltime=None):
        """The same, counted before."""
        counted = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision, recall)
        self._add(summary.pr_curve_raw(tag, *counted, num_thresholds, weights), global_step, walltime)

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        """A chart of several scalars."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """A chart of a scalar between two others."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout):
        """Charts of several scalars: {category: {title: ["Multiline" or "Margin", tags]}}."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_mesh(self, tag, vertices, colors=None, faces=None, config_dict=None, global_step=None, walltime=None):
        """Points (B, N, 3), their colours and triangles."""
        self._add(summary.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def flush(self):
        """Write what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self):
        """Write what waits, and close the files; what comes later begins new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
