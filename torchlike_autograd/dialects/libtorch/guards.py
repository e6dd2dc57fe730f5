"""Guards (layer 9): a mode from where one is made until it is let go, or for a `with` block."""

from __future__ import annotations

from ...autograd import anomaly_mode, grad_mode


class _Guard:
    """Enters a mode when it is made; leaves it once: at the end of its `with` block, or when it is dropped."""

    __slots__ = ("_left", "_mode")

    def __init__(self, mode):
        self._left, self._mode = False, mode
        mode.__enter__()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if not self._left:
            self._left = True
            self._mode.__exit__(None, None, None)

    def __del__(self):
        if hasattr(self, "_left"):
            self.__exit__()


class AutoGradMode(_Guard):
    """Recording on or off."""

    def __init__(self, enabled):
        super().__init__(grad_mode.set_grad_enabled(enabled))


class NoGradGuard(AutoGradMode):
    """Recording off."""

    def __init__(self):
        super().__init__(False)


class InferenceMode(_Guard):
    """c10::InferenceMode."""

    def __init__(self, enabled=True):
        super().__init__(grad_mode.inference_mode(enabled))

    @staticmethod
    def is_enabled():
        """Whether it is in force."""
        return grad_mode.is_inference_mode_enabled()


class DetectAnomalyGuard(_Guard):
    """Anomaly mode, with NaN among gradients an error or not."""

    def __init__(self, check_nan=True):
        super().__init__(anomaly_mode.detect_anomaly(check_nan))


class GradMode:
    """Whether calls are recorded, to ask and to set."""

    is_enabled = staticmethod(grad_mode.is_grad_enabled)

    @staticmethod
    def set_enabled(enabled):
        """Record calls from now on, or not."""
        grad_mode.set_mode(enabled)


__all__ = ["AutoGradMode", "DetectAnomalyGuard", "GradMode", "InferenceMode", "NoGradGuard"]
