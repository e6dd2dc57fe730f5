"""torch._library.fake_profile (layer 8): what operators returned, written down for a tracer; there is none, so these are names that files import."""

from __future__ import annotations

from .._core import publish as _publish

_HERE, _WHY = "torch._library.fake_profile", "nothing is traced here"


class MissingOpProfile(RuntimeError):
    """No profile fits the arguments."""


TensorMetadata = _publish.refused_class(_HERE, "TensorMetadata", _WHY)
OpProfile = _publish.refused_class(_HERE, "OpProfile", _WHY)
globals().update(_publish.refused(_HERE, "generate_yaml_from_profiles", "load_op_profiles", "read_profiles_from_yaml", "save_op_profiles", why=_WHY))
__getattr__ = _publish.missing(_HERE)
