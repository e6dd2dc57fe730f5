"""A layered layout (layer 9): ranks by the longest way from a root, order within a rank by the places of neighbours."""

from __future__ import annotations

WIDE, HIGH, GAP_X, GAP_Y, MARGIN = 7, 14, 24, 36, 12  # of a letter, of a line, between boxes, between ranks
SWEEPS = 4


def place(texts, edges):
    """[(x, y, width, height)] of boxes with these lines of text; edges go downwards."""
    n = len(texts)
    after, before = [[] for _ in range(n)], [[] for _ in range(n)]
    for a, b in edges:
        after[a].append(b)
        before[b].append(a)
    ranks = _order(_ranks(after, before), after, before)
    sizes = [(WIDE * max(map(len, lines), default=1) + 16, HIGH * len(lines) + 12) for lines in texts]
    wide = max((sum(sizes[i][0] for i in row) + GAP_X * (len(row) - 1) for row in ranks), default=0)
    out, y = [None] * n, MARGIN
    for row in ranks:
        x = MARGIN + (wide - sum(sizes[i][0] for i in row) - GAP_X * (len(row) - 1)) / 2
        for i in row:
            out[i] = (x, y, *sizes[i])
            x += sizes[i][0] + GAP_X
        y += max(sizes[i][1] for i in row) + GAP_Y
    return out


def _ranks(after, before):
    """[[box, ...], ...] from the roots down; iterative, as graphs may be long."""
    waiting, rank = [len(b) for b in before], [0] * len(before)
    ready = [i for i, k in enumerate(waiting) if k == 0]
    for i in ready:  # grows while it is read
        for j in after[i]:
            rank[j] = max(rank[j], rank[i] + 1)
            waiting[j] -= 1
            if waiting[j] == 0:
                ready.append(j)
    rows = [[] for _ in range(max(rank, default=-1) + 1)]
    for i, r in enumerate(rank):
        rows[r].append(i)
    return rows


def _order(rows, after, before):
    """Rows sorted by the mean place of neighbours, downwards and upwards in turn."""
    at = {i: k / max(len(row), 1) for row in rows for k, i in enumerate(row)}
    for sweep in range(SWEEPS):
        near = before if sweep % 2 == 0 else after
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=lambda i, near=near: sum(at[j] for j in near[i]) / len(near[i]) if near[i] else at[i])
            at.update((i, (k + 0.5) / len(row)) for k, i in enumerate(row))
    return rows


__all__ = ["place"]
