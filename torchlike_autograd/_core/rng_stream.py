"""The stream itself: a Mersenne Twister with PyTorch's seeding, position and state bytes."""

from __future__ import annotations

import operator
import secrets
import threading

import numpy as np

from . import rng_counted
from .shown import Shown

_DEFAULT_SEED = 67280421310721  # torch's seed of a Generator() nobody seeded
_WORDS = 624  # 32-bit words in the state of MT19937

# torch's state blob, a C struct of 5056 bytes. The twister's words are 64 bits wide in it; ``left``
# counts down to the next refill and ``next`` counts up from the last one.
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", _WORDS),
        ("unused_x", "<f8"),
        ("normal", "<f8"),
        ("unused_rho", "<f8"),
        ("has_normal", "<i4"),
        ("gap", "<i4"),
        ("float_normal", "<f4"),
        ("has_float_normal", "u1"),
    ],
    align=True,
)


_SPARE: list = []  # twisters of generators that are no more
_MANY = 64


class _Zeros(np.random.bit_generator.ISeedSequence):
    """A seed that need not be mixed, for a twister that is seeded as PyTorch's right after."""

    def generate_state(self, n_words, dtype=np.uint32):
        return np.zeros(n_words, dtype)


def _twister():
    try:
        return _SPARE.pop()
    except IndexError:
        return np.random.MT19937(_Zeros())


class Generator(metaclass=Shown):
    """A random stream with its position, like ``torch.Generator``.

    ``lock`` is held for the length of one draw, so that threads sharing a generator take whole
    draws in turn. ``pending_normal`` is the second half of a scalar Box-Muller pair, or None.
    ``offset``: how far a generator has come that counts instead (`rng_counted`).
    """

    def __init__(self, device: str = "cpu") -> None:
        self.device = str(device)
        self.lock = threading.RLock()
        self._twister = _twister()
        self._reseed(_DEFAULT_SEED)

    def __del__(self) -> None:
        """Programs that make a generator for each draw make no twister for each: that costs more than to seed one."""
        twister = self.__dict__.get("_twister")  # none where making it was refused
        if twister is not None and _SPARE is not None and len(_SPARE) < _MANY:  # None while Python ends
            _SPARE.append(twister)

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {hex(id(self))}>"

    def _reseed(self, seed: int) -> None:
        with self.lock:
            self._seed = seed
            self._twister._legacy_seeding(seed & 0xFFFF_FFFF)
            self._untouched = True  # torch's counters tell a fresh state from one that needs a refill
            self.pending_normal: float | None = None
            self._pending_float: float | None = None  # kept for the state blob; no CPU kernel uses it
            self.offset = 0

    def manual_seed(self, seed: int) -> Generator:
        """Seed the stream; a negative seed stands for ``seed + 2**64``, as in torch."""
        self._reseed(_checked_seed(seed))
        return self

    def seed(self) -> int:
        """Seed the stream from the operating system and return the 64-bit seed."""
        self._reseed(secrets.randbits(64))
        return self._seed

    def initial_seed(self) -> int:
        """The seed of the last seeding."""
        return self._seed

    @property
    def counts(self) -> bool:
        """Whether its device draws the numbers, from the seed and the offset."""
        return rng_counted.counts(self.__dict__["device"])

    def take(self) -> int:
        """The key for one draw of the device's; the generator moves on."""
        with self.lock:
            offset = self.offset
            self.offset = (offset + rng_counted.STEP) % 2**64
            return rng_counted.key_at(self._seed, offset)

    def on_host(self) -> Generator:
        """The stream from which the host draws: the generator itself, or one for this draw alone where it counts."""
        if not self.counts:
            return self
        return Generator().manual_seed(self.take())

    def words(self, count: int):
        """The next ``count`` 32-bit words of the stream, as uint64."""
        if count:
            self._untouched = False
        return self._twister.random_raw(count)

    def long_words(self, count: int):
        """The next ``count`` 64-bit words: two draws each, the high half first."""
        pairs = self.words(2 * count).reshape(count, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def look_ahead(self, count: int):
        """The next ``count`` 64-bit words, without moving on."""
        place, untouched = self._twister.state, self._untouched
        words = self.long_words(count)
        self._twister.state, self._untouched = place, untouched
        return words

    def get_state(self) -> np.ndarray:
        """The state in the byte layout of ``torch.Generator.get_state``."""
        with self.lock:
            if self.counts:
                return rng_counted.packed(self._seed, self.offset)
            twister = self._twister.state["state"]
            blob = np.zeros((), _STATE)
            used = 0 if self._untouched else twister["pos"]
            blob["seed"], blob["words"], blob["seeded"] = self._seed, twister["key"], 1
            blob["next"], blob["left"] = used, 1 if self._untouched else _WORDS + 1 - used
            if self.pending_normal is not None:
                blob["normal"], blob["has_normal"] = self.pending_normal, 1
            if self._pending_float is not None:
                blob["float_normal"], blob["has_float_normal"] = self._pending_float, 1
            return np.frombuffer(blob.tobytes(), np.uint8).copy()

    def set_state(self, state: np.ndarray) -> None:
        """Continue from a state that :meth:`get_state`, ours or torch's, returned."""
        if self.counts:
            seed, offset = rng_counted.unpacked(state)
            with self.lock:
                self._seed, self.offset = seed, offset
            return
        blob = _parsed_state(state)
        left, used = int(blob["left"]), int(blob["next"])
        with self.lock:
            self._seed = int(blob["seed"])
            self._untouched = left == 1 and used == 0
            position = _WORDS if left == 1 else used
            key = blob["words"].astype(np.uint32)
            self._twister.state = {
                "bit_generator": "MT19937",
                "state": {"key": key, "pos": position},
            }
            self.pending_normal = float(blob["normal"]) if blob["has_normal"] else None
            self._pending_float = float(blob["float_normal"]) if blob["has_float_normal"] else None

    def __reduce__(self) -> tuple:
        return _restored, (self.device, self.get_state())

    def clone_state(self) -> Generator:
        """A new generator at the same place in the same stream."""
        return _restored(self.device, self.get_state())


def _restored(device: str, state: np.ndarray) -> Generator:
    generator = Generator(device)
    generator.set_state(state)
    return generator


def _checked_seed(seed) -> int:
    """The seed as an unsigned 64-bit number, or torch's complaint."""
    try:
        if isinstance(seed, bool):
            raise TypeError
        value = operator.index(seed)
    except TypeError:
        raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}") from None
    if not -(2**63) <= value < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return value % 2**64


def _parsed_state(state: np.ndarray) -> np.ndarray:
    """The fields of a state blob, or torch's complaint."""
    state = np.asarray(state)
    if state.dtype != np.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    if state.size != _STATE.itemsize:
        raise RuntimeError(f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the input RNG state size to be {state.size}")
    blob = np.frombuffer(state.tobytes(), _STATE)[0]
    left, used = int(blob["left"]), int(blob["next"])
    consistent = left == 1 if used == 0 else left == _WORDS + 1 - used
    if not (blob["seeded"] and 0 < left <= _WORDS and consistent):
        raise RuntimeError("Invalid mt19937 state")
    return blob
