"""What relaxed distributions share (layer 8)."""

from __future__ import annotations


class Relaxed:
    """A relaxed distribution seen through a transform: temperature, logits and probabilities are those of the base."""

    @property
    def temperature(self):
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """Log-odds, or logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self):
        """The probabilities."""
        return self.base_dist.probs
