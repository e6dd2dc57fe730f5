"""torch.utils.benchmark (layer 8): timing statements, and tables of what was measured."""

from ..._core import publish as _publish
from .utils.common import Measurement, TaskSpec, ordered_unique, select_unit, set_torch_threads, trim_sigfig, unit_to_english
from .utils.compare import Colorize, Compare
from .utils.timer import Language, Timer, timer

__all__ = ["Colorize", "Compare", "Language", "Measurement", "TaskSpec", "Timer", "ordered_unique", "select_unit", "set_torch_threads", "timer",
           "trim_sigfig", "unit_to_english"]
__getattr__ = _publish.missing("torch.utils.benchmark")
