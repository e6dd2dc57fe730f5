"""Coordinates on the host (layer 8): sorting, merging and matching them, in NumPy.  [dims, nnz] int64 throughout."""

from __future__ import annotations

import numpy as np


def keys(at, size):
    """One number for each place, in the order of rows: [nnz]."""
    if not len(size):
        return np.zeros(at.shape[1], np.int64)
    return np.ravel_multi_index(tuple(at), tuple(size)) if at.shape[1] else np.zeros(0, np.int64)


def merged(at, size):
    """(the places once and in order, of which of them each entry is)."""
    found, first, group = np.unique(keys(at, size), return_index=True, return_inverse=True)
    del found
    return at[:, first], group.reshape(-1)


def is_merged(at, size):
    """Whether places are in order and none comes twice."""
    return bool(np.all(np.diff(keys(at, size)) > 0))


def common(a, b, size):
    """The entries of a and of b that are at the same places, both in order."""
    _, i, j = np.intersect1d(keys(a, size), keys(b, size), assume_unique=True, return_indices=True)
    return i, j


def joined(a, b):
    """The pairs of entries (i of a, j of b) in which the column of a is the row of b; b's rows are in order."""
    starts = np.searchsorted(b[0], a[1], "left")
    counts = np.searchsorted(b[0], a[1], "right") - starts
    i = np.repeat(np.arange(a.shape[1]), counts)
    j = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts, counts)
    return i, j


def chosen(row, wanted):
    """(the entries whose coordinate is one of `wanted`, its position there), ordered by position."""
    order = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[order], wanted, "left")
    counts = np.searchsorted(row[order], wanted, "right") - starts
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[within + np.repeat(starts, counts)], np.repeat(np.arange(len(wanted)), counts)


def compressed(rows, count):
    """Where each of `count` rows begins among entries in order: [count + 1]."""
    return np.searchsorted(rows, np.arange(count + 1), "left").astype(np.int64)


def expanded(starts):
    """The row of each entry."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))
