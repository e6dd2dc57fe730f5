"""One run: what is chosen, how it is split, what is remembered of it.

The results of a run lie in `results/`: one JSON file for each area, rewritten where the area was run whole; `report` reads them.
"""

import datetime
import importlib.metadata
import json
from pathlib import Path

from compat_matrix import pool, work
from compat_matrix.case import selects
from compat_matrix.progress import Progress
from compat_matrix.run import BAD, Result, show

FOLDER = Path(__file__).parent / "results"
QUICK = 150  # seconds of work on two cores that `--quick` chooses
BUSY = 2  # cores that the time is meant for


def run(only=None, verbose=False, jobs=1, quick=False, resume=False, device=None, file=None, progress=None, keep=True):
    """Results of what `only` selects.

    jobs: processes; quick: a spread of every area that takes under three minutes; resume: leave out what an interrupted run of the same sources has done;
    device: where JAX runs ("cpu", "cuda", "tpu"); file: write the results there too; progress: show the line although there is no terminal, or never;
    keep: whether the stored results are replaced.
    """
    work.prepare_environment(False, device)
    chosen, seconds = work.ids(only), known_seconds()
    whole = list(chosen)
    if quick:
        chosen = spread(chosen, seconds)
    journal = pool.Journal(resume=resume) if jobs > 1 or resume else None
    done = journal.standing(chosen) if resume else {}
    todo = [id for id in chosen if id not in done]
    bar = Progress(todo, seconds, progress)

    def step(id, bad):
        bar(id, bad)
    results = {**done, **{r.id: said(r, verbose) for r in pool.run(todo, jobs, device, journal, step)}}
    bar.close()
    if journal is not None:
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
    """Some of every area, evenly, so that all together take about QUICK seconds on two cores."""
    by_area = {}
    for id in ids:
        by_area.setdefault(id.partition(".")[0], []).append(id)
    budget = QUICK * BUSY / len(by_area)
    chosen = []
    for mine in by_area.values():
        cost = sum(seconds.get(id, 0.3) for id in mine)
        step = max(1, -(-int(cost * 10) // int(budget * 10)))
        chosen += [id for id in mine[::step] if seconds.get(id, 0.3) < budget / 2]
    return chosen


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
    """A run as plain data: counts by area, and every result."""
    counts = {}
    for r in results:
        here = counts.setdefault(r.area, {})
        here[r.status] = here.get(r.status, 0) + 1
    return {**stamp(), "device": device_name(device), "counts": counts, "results": {r.id: pool.as_row(r) for r in results}}


def device_name(device):
    """The kind of device that JAX runs on, as it calls itself."""
    import jax

    return jax.devices()[0].device_kind if device else "cpu"


__all__ = ["FOLDER", "Result", "as_json", "known_seconds", "run", "selects", "spread", "store", "stored"]
