"""Gradients where conventions differ: ties, zeros, bounds, poles; first and second order."""
