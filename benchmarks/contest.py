"""The turns that contestants take at one step, and what is kept of them."""

import math
import statistics
from dataclasses import dataclass, field

from benchmarks.process import Worker, WorkerFailed

KINDS = ("ours", "jit", "torch")
CHECKED = 8
CALIBRATION, CALIBRATIONS = 5, 3
TOLERANCE = 1e-3


@dataclass
class Score:
    """What one contestant did at one step."""

    imported: float = 0.0
    first_step: float = 0.0
    version: str = ""
    losses: list[float] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)
    warm: dict = field(default_factory=dict)
    final: dict = field(default_factory=dict)
    peak_memory: int = 0
    failure: str = ""

    @property
    def median(self) -> float:
        """Seconds of a step, the median over the rounds."""
        return statistics.median(self.rounds) if self.rounds else math.nan


@dataclass
class Result:
    """What everybody did at one step."""

    step: str
    scores: dict[str, Score]

    def ratio(self, kind: str, other: str) -> float:
        """How many times as long `kind` takes as `other`: the median over rounds run together."""
        pair = [self.scores.get(k, Score()).rounds for k in (kind, other)]
        if not all(pair):
            return math.nan
        return statistics.median(a / b for a, b in zip(*pair, strict=False))

    def losses_differ(self) -> float:
        """The largest relative difference between the first losses of any two contestants."""
        lists = [score.losses for score in self.scores.values() if score.losses]
        if len(lists) < 2:
            return math.nan
        columns = zip(*lists, strict=False)
        return max(map(spread, columns))

    def losses_agree(self) -> bool:
        """Whether all who trained computed the same."""
        return not self.losses_differ() > TOLERANCE


def spread(numbers) -> float:
    """Return the relative distance of the farthest two; infinite if one is not finite."""
    if not all(map(math.isfinite, numbers)):
        return math.inf
    return (max(numbers) - min(numbers)) / (max(map(abs, numbers)) or 1.0)


class Contest:
    """The workers of one step that still take part, and their scores."""

    def __init__(self, step: str, options) -> None:
        self.options = options
        kinds = [kind for kind in KINDS if kind != "torch" or options.torch_python]
        self.workers = {kind: Worker(kind, step, options) for kind in kinds}
        self.scores = {kind: Score() for kind in kinds}
        self.step = step

    def run(self) -> Result:
        """Start everybody, compare losses, warm up, take turns, and end everybody."""
        try:
            self.start()
            for kind, reply in self.ask("losses", n=CHECKED - 1):
                self.scores[kind].losses += reply["losses"]
            turns = self.turns()
            self.warm_up(turns)
            self.take_turns(turns)
        finally:
            for worker in self.workers.values():
                worker.close()
        return Result(self.step, self.scores)

    def ask(self, do: str, first: int = 0, **details):
        """Ask everybody in turn, beginning with number `first`; who fails takes no further part."""
        kinds = list(self.workers)
        first = first % len(kinds) if kinds else 0
        for kind in kinds[first:] + kinds[:first]:
            try:
                yield kind, self.workers[kind].ask(do, **details)
            except WorkerFailed as failure:
                self.scores[kind].failure = str(failure)
                self.workers.pop(kind).close()

    def start(self) -> None:
        """Let everybody import, build the step and train once, one after the other."""
        for kind, reply in self.ask("start"):
            score = self.scores[kind]
            score.imported, score.first_step = reply["import"], reply["first_step"]
            score.version, score.losses = reply["version"], [reply["loss"]]

    def turns(self) -> int:
        """Choose the steps of a round: enough of the fastest, not too many of the slowest."""
        times: dict[str, float] = {}
        for _ in range(CALIBRATIONS):  # the first compile what later ones need: what counts is how long a step takes once warm
            for kind, reply in self.ask("round", n=CALIBRATION):
                times[kind] = min(times.get(kind, math.inf), reply["seconds"] / CALIBRATION)
        if not times:
            return 1
        wanted = min(self.options.seconds / min(times.values()), 4 * self.options.seconds / max(times.values()))
        return max(2, math.ceil(wanted))

    def warm_up(self, turns: int) -> None:
        """Train until nothing new should happen, and note our counters then."""
        for _ in range(self.options.warm_rounds):
            list(self.ask("round", n=turns))
        for kind, reply in self.ask("stats"):
            self.scores[kind].warm = reply["counters"]

    def take_turns(self, turns: int) -> None:
        """Run the rounds that count, each beginning with another contestant."""
        for number in range(self.options.rounds):
            for kind, reply in self.ask("round", first=number, n=turns):
                self.scores[kind].rounds.append(reply["seconds"] / turns)
        for kind, reply in self.ask("stats"):
            self.scores[kind].final = reply["counters"]
            self.scores[kind].peak_memory = reply["peak_memory"]
