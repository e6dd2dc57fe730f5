"""Running the work in several processes, with a journal from which a stopped run is taken up again."""

import json
import multiprocessing
import os
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from pathlib import Path

from compat_matrix import work
from compat_matrix.run import BAD, Result

JOURNAL = Path(__file__).parent / "results" / "journal.jsonl"
CHUNK = 24
MOST = 50_000_000  # bytes of the journal, after which it begins anew
MAPPED = 30_000  # mapped pieces of memory, after which compiled programs are let go
_judge = _said = None


def chunks(ids):
    """Ids of one area together, a few at a time: what they compile is shared inside a process."""
    found, here = [], []
    for id in ids:
        area = id.partition(".")[0]
        if here and (len(here) == CHUNK or here[0].partition(".")[0] != area):
            found.append(here)
            here = []
        here.append(id)
    return found + ([here] if here else [])


def start(folder):
    """First of all in a process of the pool: end with the one that started it, and remember where to say what is judged."""
    global _said
    _said = Path(folder) / str(os.getpid())
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (connection.wait([parent.sentinel]), os._exit(1)), daemon=True).start()


def in_worker(ids):
    """Judge some ids in a process of the pool, each of them said first: what stands there when a process dies may have killed it."""
    global _judge
    if _judge is None:
        _judge = work.Judge()
    found = []
    for id in ids:
        _said.write_text(id)
        found.append(_judge(id))
    _said.unlink()
    forget_programs()
    return found


def forget_programs():
    """Let go of compiled programs before they take all the pieces that Linux lets a process map (65,530; a compiler that gets none ends the process)."""
    maps = Path("/proc/self/maps")
    if not maps.exists() or maps.read_bytes().count(b"\n") < MAPPED:
        return
    import jax

    from torchlike_autograd._core import execute

    execute.clear_caches()
    jax.clear_caches()


def run(ids, jobs=1, device=None, journal=None, progress=None):
    """Results of the ids, in their order.  Entries of `lowering` run in processes of their own, which have eight devices."""
    found = {}

    def take(results):
        for result in results:
            found[result.id] = result
            if journal is not None:
                journal.write(result)
            if progress is not None:
                progress(result.id, result.status in BAD)
    plain = [id for id in ids if not id.startswith("lowering.")]
    if jobs == 1:
        work.prepare_environment(False, device)
        judge = work.Judge() if plain else None
        for id in plain:
            take([judge(id)])
    else:
        in_processes(plain, jobs, device, take)
    in_processes([id for id in ids if id.startswith("lowering.")], jobs, device, take)
    return [found[id] for id in ids]


def in_processes(ids, jobs, device, take):
    """Give chunks to processes.  When one dies, only what was just being judged is tried alone, and the id that kills fails; the rest goes on together."""
    left = list(ids)
    while left:
        left, suspects = split(chunks(left), left, jobs, device, take)
        for id in [id for id in left if id in suspects] or left[:1]:  # each round takes at least one
            left.remove(id)
            if split([[id]], [id], 1, device, take)[0]:
                take([Result(id, "fail", ["the process that ran it died"])])


def split(work_list, ids, jobs, device, take):
    """Run chunks in a pool; (the ids that got no answer because a process died, what was being judged then)."""
    left = set(ids)
    kept = dict(os.environ)
    work.prepare_environment(ids[0].startswith("lowering."), device)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), start, (folder,)) as pool:
                for future in as_completed([pool.submit(in_worker, part) for part in work_list]):
                    results = future.result()
                    left -= {r.id for r in results}
                    take(results)
        except BrokenProcessPool:
            pass
        finally:
            os.environ.clear()
            os.environ.update(kept)
        return [id for id in ids if id in left], {file.read_text() for file in Path(folder).iterdir()}


class Journal:
    """One line for each result as it comes; `known` are those of an earlier run under the same sources that still stand."""

    def __init__(self, file=None, resume=False, device=None):
        file = file or JOURNAL
        self.stamp = f"{work.code_stamp()} {device}" if device else work.code_stamp()
        self.known = self.read(file) if resume else {}
        file.parent.mkdir(exist_ok=True)
        self.file = file.open("a" if not file.exists() or file.stat().st_size < MOST else "w")  # runs at the same time share it

    def read(self, file):
        found = {}
        if file.exists():
            for line in file.read_text().splitlines():
                row = readable(line)
                if row.get("code") == self.stamp:
                    found[row["id"]] = row
        return found

    def standing(self, ids):
        """{id: Result} of what needs no second run: it passed, no gap is listed for it since, and it asks what it asked."""
        gaps = work.every_gap()
        return {id: from_row(row) for id in ids if (row := self.known.get(id)) and row["status"] == "pass" and id not in gaps
                and row["asked"] == work.asked_stamp(id)}

    def write(self, result):
        row = {"id": result.id, "code": self.stamp, "asked": work.asked_stamp(result.id), **as_row(result)}
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def close(self):
        self.file.close()


def readable(line):
    """A line of the journal; {} where the run was stopped while it wrote."""
    try:
        return json.loads(line)
    except ValueError:
        return {}


def as_row(result):
    return {"status": result.status, "seconds": result.seconds, **({"problems": result.problems[:12]} if result.problems else {}),
            **({"columns": result.columns} if result.columns else {})}


def from_row(row):
    return Result(row["id"], row["status"], row.get("problems", []), row.get("seconds", 0.0), row.get("columns", {}))
