"""A line that says how far a run is and how long it may still take."""

import sys
import time


class Progress:
    """Counts finished work; weights: seconds that each id took before (1 where nothing is known)."""

    def __init__(self, ids, weights=None, shown=None, out=None):
        self.out = out or sys.stderr
        self.shown = self.out.isatty() if shown is None else shown
        known = [w for w in (weights or {}).values() if w]
        usual = sum(known) / len(known) if known else 1.0
        self.weights = {id: (weights or {}).get(id) or usual for id in ids}
        self.whole, self.done, self.count, self.bad = sum(self.weights.values()) or 1.0, 0.0, 0, 0
        self.start, self.last = time.monotonic(), 0.0

    def __call__(self, id, bad=False):
        self.done += self.weights.get(id, 0)
        self.count += 1
        self.bad += bad
        now = time.monotonic()
        if self.shown and (now - self.last > 0.2 or self.count == len(self.weights)):
            self.last = now
            self.out.write("\r" + self.line(now - self.start))
            self.out.flush()

    def line(self, elapsed, width=30):
        """`[#####.....] 120/900 13% 0:31 passed, about 3:20 left`"""
        share = min(self.done / self.whole, 1.0)
        left = elapsed / share - elapsed if share > 0 else 0
        bar = "#" * int(share * width)
        wrong = f", {self.bad} wrong" if self.bad else ""
        return f"[{bar:.<{width}}] {self.count}/{len(self.weights)} {share:4.0%} {clock(elapsed)} passed, about {clock(left)} left{wrong}   "

    def close(self):
        if self.shown:
            self.out.write("\n")


def clock(seconds):
    seconds = int(seconds)
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
