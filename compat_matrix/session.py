"""One run: what is chosen, how it is split, what is remembered of it.

The results of a run lie in `results/`: one JSON file for each area, rewritten where the area was run whole; `report` reads them.
"""

import datetime
import importlib.metadata
import json
import os
from pathlib import Path

from compat_matrix import pool, work
from compat_matrix.case import selects
from compat_matrix.progress import Progress
from compat_matrix.run import BAD, Result, counts, show

FOLDER = Path(__file__).parent / "results"
QUICK = 28  # seconds on two cores that what `--quick` chooses took in a whole run; alone it takes twice as long, as it compiles what others had compiled
BUSY = 2  # cores that the time is meant for
USUAL = 0.3  # seconds of what was never run


def run(only=None, verbose=False, jobs=None, quick=False, resume=False, device=None, file=None, progress=None, keep=True):
    """Results of what `only` selects.

    jobs: processes (None: one, for quick two); quick: a spread of every area that takes under three minutes;
    resume: leave out what an interrupted run of the same sources has done;
    device: where JAX runs ("cpu", "cuda", "tpu"); file: write the results there too; progress: show the line although there is no terminal, or never;
    keep: whether the stored results are replaced.
    """
    work.prepare_environment(False, device)
    chosen, seconds = work.ids(only), known_seconds()
    if not chosen:
        raise SystemExit(f"nothing is called {only!r}; `python -m compat_matrix list` prints every id")
    whole = list(chosen)
    if quick:
        chosen = spread(chosen, seconds)
    jobs = jobs or (min(BUSY, os.cpu_count() or 1) if quick else 1)
    journal = pool.Journal(resume=resume, device=device)
    done = journal.standing(chosen) if resume else {}
    todo = [id for id in chosen if id not in done]
    bar = Progress(todo, seconds, progress)
    results = {**done, **{r.id: said(r, verbose) for r in pool.run(todo, jobs, device, journal, bar)}}
    bar.close()
    journal.close()
    ordered = work.strays(only) + [results[id] for id in chosen]
    if keep and not quick and not device:
        store(ordered, whole)
    if file:
        Path(file).write_text(json.dumps(as_json(ordered, device), indent=1) + "\n")
    return ordered


def said(result, verbose):
    if verbose and result.status in BAD:
        print(show(result), flush=True)
    return result


def spread(ids, seconds):
    """Some of every area, all of the short ones, so that all together take about QUICK seconds on two cores."""
    by_area = {}
    for id in ids:
        by_area.setdefault(id.partition(".")[0], []).append(id)
    cost = {id: seconds.get(id, USUAL) for id in ids}
    left, chosen, todo = QUICK * BUSY, {}, sorted(by_area, key=lambda area: sum(cost[id] for id in by_area[area]))
    for done, area in enumerate(todo):  # the shortest first: what it leaves of its share is for the longer ones
        chosen[area] = some(by_area[area], cost, left / (len(todo) - done))
        left -= sum(cost[id] for id in chosen[area])
    return [id for area in by_area for id in chosen[area]]


def some(ids, cost, budget):
    """Of every `step` neighbours the one that takes least, with the smallest `step` that the budget allows; at least one id."""
    for step in range(1, len(ids) + 1):
        found = [min(ids[i:i + step], key=cost.get) for i in range(0, len(ids), step)]
        if sum(map(cost.get, found)) <= budget:
            break
    return found


def known_seconds():
    """{id: seconds} of the last runs."""
    return {id: row.get("seconds", 0.0) for area in stored().values() for id, row in area["results"].items()}


def stored(folder=FOLDER):
    """{area: {"date": ..., "results": {id: row}}} of the stored runs."""
    return {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}


def stamp():
    """Where and when: versions, the date, the kind of device."""
    return {"date": datetime.date.today().isoformat(), "jax": importlib.metadata.version("jax")}


def store(results, whole, folder=FOLDER):
    """Rewrite the files of the areas that were run whole."""
    folder.mkdir(exist_ok=True)
    by_area = {}
    for result in results:
        by_area.setdefault(result.area, {})[result.id] = result
    every = work.ids()
    for area, mine in by_area.items():
        ids = [id for id in every if id.partition(".")[0] == area]
        if set(ids) <= set(mine) and set(ids) <= set(whole):
            rows = [f"{json.dumps(id)}: {json.dumps(pool.as_row(r), separators=(',', ':'))}" for id, r in mine.items()]
            (folder / f"{area}.json").write_text(json.dumps(stamp())[:-1] + ', "results": {\n' + ",\n".join(rows) + "\n}}\n")


def as_json(results, device):
    """A run as plain data: counts by area, their total, and every result."""
    counted = {area: dict(count) for area, count in counts(results).items()}
    return {**stamp(), "device": device_name(device), "counts": counted, "results": {r.id: pool.as_row(r) for r in results}}


def device_name(device):
    """The kind of device that JAX runs on, as it calls itself."""
    import jax

    return jax.devices()[0].device_kind if device else "cpu"


__all__ = ["FOLDER", "Result", "as_json", "known_seconds", "run", "selects", "spread", "store", "stored"]
