"""Running, splitting, taking up again, columns, and the report: on small data of their own."""

import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compat_matrix import columns, page, pool, progress, record, report, run, session, states, versions, work


def test_bookkeeping_keeps_to_its_area():
    """`--only nn` says nothing about gaps of `nn_ops`."""
    gaps = {"nn_ops.gone": {}, "nn.gone": {}}
    assert [r.id for r in run.bookkeeping({}, {}, gaps, "nn")] == ["nn.gone"]
    assert [r.id for r in run.bookkeeping({}, {"nn": {"cases": {"nn.old": {}, "nn_ops.old": {}}}}, {}, "nn")] == ["nn.old"]


def test_chunks_hold_one_area_each():
    ids = [f"a.{i}" for i in range(30)] + ["b.1"]
    assert [len(c) for c in pool.chunks(ids)] == [pool.CHUNK, 30 - pool.CHUNK, 1] and [i for c in pool.chunks(ids) for i in c] == ids


def test_the_progress_line():
    out = io.StringIO()
    bar = progress.Progress(["a", "b"], {"a": 1.0, "b": 3.0}, shown=True, out=out)
    bar("a")
    bar("b", bad=True)
    bar.close()
    assert "1/2  25%" in out.getvalue() and "2/2 100%" in out.getvalue() and "1 wrong" in out.getvalue()
    assert progress.clock(3725) == "1:02:05" and progress.clock(65) == "1:05"
    quiet = io.StringIO()
    progress.Progress(["a"], out=quiet)("a")
    assert quiet.getvalue() == ""  # no terminal


@pytest.fixture
def stamps(monkeypatch):
    monkeypatch.setattr(work, "code_stamp", lambda: "code")
    monkeypatch.setattr(work, "asked_stamp", lambda id: f"asked {id}")


def test_an_interrupted_run_is_taken_up(tmp_path, stamps, monkeypatch):
    file = tmp_path / "journal.jsonl"
    first = pool.Journal(file)
    first.write(run.Result("a.1", "pass", [], 0.5, {"value": "equal"}))
    first.write(run.Result("a.2", "fail", ["why"], 0.5, {"value": "differs"}))
    first.close()
    again = pool.Journal(file, resume=True)
    assert again.standing(["a.1", "a.2", "a.3"]) == {"a.1": run.Result("a.1", "pass", [], 0.5, {"value": "equal"})}  # what failed is asked again
    monkeypatch.setattr(work, "asked_stamp", lambda id: "other")
    assert again.standing(["a.1"]) == {}
    monkeypatch.setattr(work, "code_stamp", lambda: "other")
    assert pool.Journal(file, resume=True).known == {}


def test_a_process_that_dies_fails_only_its_id(monkeypatch):
    tried = []

    def split(chunks, ids, jobs, device, take):
        tried.append(list(ids))
        if "a.killer" in ids:
            return [i for i in ids if i != "a.before"], {"a.killer", "a.beside"} & set(ids)
        take([run.Result(i, "pass") for i in ids])
        return [], set()
    monkeypatch.setattr(pool, "split", split)
    found = []
    pool.in_processes(["a.before", "a.killer", "a.beside", "a.after", "a.last"], 2, None, found.extend)
    assert {r.id: r.status for r in found} == {"a.killer": "fail", "a.beside": "pass", "a.after": "pass", "a.last": "pass"}
    assert tried[1:] == [["a.killer"], ["a.beside"], ["a.after", "a.last"]]  # what was not being judged goes on together


KILLERS = """
import os, sys, time
from compat_matrix import pool, work
from compat_matrix.run import Result

class Judge:
    def __call__(self, id):
        if "killer" in id:
            os.kill(os.getpid(), 9)
        if "slow" in id:
            os.write(1, b"%d\\n" % os.getpid())  # in one piece, as another process does the same
            time.sleep(60)
        return Result(id, "pass")

work.Judge = Judge
if __name__ == "__main__":
    print(sorted(r.id for r in pool.run(sys.argv[1:], 2) if r.status != "pass"))
"""


@pytest.fixture
def killers(tmp_path):
    """A program that judges ids, of which some end their process and some take long."""
    file = tmp_path / "killers.py"
    file.write_text(KILLERS)
    return [sys.executable, str(file)], {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}


def test_processes_that_die(killers):
    command, env = killers
    ids = [f"a.{i}" for i in range(60)] + ["b.killer", "b.2", "c.killer"] + [f"d.{i}" for i in range(30)]
    done = subprocess.run([*command, *ids], env=env, capture_output=True, text=True, timeout=120)
    assert done.stdout == "['b.killer', 'c.killer']\n", done.stderr[-2000:]


def test_the_processes_of_a_killed_run_end(killers):
    command, env = killers
    with subprocess.Popen([*command, "a.slow", "b.slow"], env=env, stdout=subprocess.PIPE, text=True) as run_of_two:
        workers = [int(run_of_two.stdout.readline()) for _ in range(2)]
        run_of_two.kill()
    deadline = time.monotonic() + 20
    while any(alive(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(alive(pid) for pid in workers)


def alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_every_run_can_be_taken_up_again(tmp_path, stamps, monkeypatch):
    """The journal is written with one process too, and is of one device."""
    monkeypatch.setattr(pool, "JOURNAL", tmp_path / "journal.jsonl")
    monkeypatch.setattr(work, "ids", lambda only=None: ["a.1", "a.2"])
    monkeypatch.setattr(work, "strays", lambda only=None: [])
    monkeypatch.setattr(work, "every_gap", lambda: {})
    monkeypatch.setattr(session, "known_seconds", dict)

    def until_killed(todo, jobs, device, journal, progress):
        asked.append(list(todo))
        for id in todo:
            journal.write(run.Result(id, "pass"))
            if len(asked) == 1:
                raise KeyboardInterrupt
            yield run.Result(id, "pass")
    asked = []
    monkeypatch.setattr(pool, "run", until_killed)
    with pytest.raises(KeyboardInterrupt):
        session.run(keep=False)
    assert [r.id for r in session.run(resume=True, keep=False)] == ["a.1", "a.2"] and asked == [["a.1", "a.2"], ["a.2"]]
    session.run(resume=True, keep=False, device="cpu")
    assert asked[2] == ["a.1", "a.2"]


def test_a_run_of_nothing_is_no_success():
    with pytest.raises(SystemExit, match=r"nothing is called 'members\.no_such_case'"):
        session.run("members.no_such_case")


def test_the_total_is_one():
    """What `run` prints as the total, what its JSON says and what the report counts: rows without `names`, which has its own line."""
    results = [*RESULTS, run.Result("names", "pass", [], 1.0, {"torch": {"equal": 1, "missing": 1}, "all": {"equal": 2, "missing": 1}})]
    assert run.summary(results)[-1] == "total              2 of     4 pass   (2 gap)"
    assert run.summary(results)[-2] == "public names       2 of     3 equal   (1 missing)"
    assert "| **all** | 4 | 2 | 2 | 0 |" in report.text(results, REASONS, "2.13.0", NAMES)
    counts = session.as_json(results, None)["counts"]
    assert counts["total"] == {"pass": 2, "gap": 2} and "names" not in counts


def test_the_stored_total_is_that_of_the_report():
    total = run.counts(report.stored_results())["total"]
    assert report.line("**all**", total) in report.FILE.read_text().splitlines()


def test_quick_takes_some_of_every_area():
    ids = [f"a.{i}" for i in range(1000)] + [f"b.{i}" for i in range(10)]
    chosen = session.spread(ids, dict.fromkeys(ids, 1.0))
    assert 0.8 * session.QUICK * session.BUSY < sum(i.startswith("a.") for i in chosen) <= session.QUICK * session.BUSY - 10
    assert sum(i.startswith("b.") for i in chosen) == 10
    assert session.spread(ids, dict.fromkeys(ids, 1000.0)) == ["a.0", "b.0"]  # never nothing of an area


@pytest.mark.parametrize("bad, listed, status", [
    ([], None, "pass"), (["out="], None, "fail"), (["out="], ["out="], "gap"), ([], ["out="], "unexpected pass"), (["out=", "views"], ["out="], "fail"),
    (["out="], ["out=", "views"], "unexpected pass")])
def test_a_gap_excuses_its_columns_only(bad, listed, status):
    found = {c: ["differs"] if c in bad else [] for c in ("out=", "views")}
    gap = None if listed is None else {"reason": "why", "kind": "divergence", "columns": listed}
    assert work.with_gap("columns.x", found, gap).status == status


def test_columns_see_differences():
    recorded = {"forward mode": [[1.0]], "dtype rules": {"int64": ["float32"]}, "names": {"torch.x": "same"}, "out=": "not one tensor", "views": [[True, [1],
        0]], "random stream": "fixed"}
    assert not any(columns.compare(recorded, recorded).values()) and "out=" not in columns.compare(recorded, recorded)
    for column, other in (("forward mode", [[2.0]]), ("dtype rules", {"int64": ["float64"]}), ("names", {"torch.x": {"out": 1}}), ("views", [[False, [1], 0]])):
        assert columns.compare(recorded, {**recorded, column: other})[column]


def test_recorded_columns_are_those_of_the_table():
    """Re-record with `columns paths` (package) and `columns record` (torch) when the table changed."""
    paths, known, calls = columns.published(), columns.answers(), work.read_calls()
    wrong = [k for k in calls if k not in known or known[k]["hash"] != columns.stamp(calls[k], paths.get(k, []))]
    assert not wrong, wrong[:10]


def test_a_program_is_lowered_and_split(tmp_path):
    """In a process of its own, which has eight devices: one entry's programs, and a program that cannot be lowered."""
    code = ("import importlib, json, jax, numpy as np\nfrom compat_matrix import lowering, work\ntorch = importlib.import_module(work.PACKAGE)\n"
            "found = lowering.collect(torch, work.read_calls()['cosh'])\nprint([c.part for c in found][:2])\n"
            "print([lowering.lowers(c) for c in found[:2]], lowering.sharded(found[0]))\n"
            "class Bad:\n    def function(self):\n        return lambda f, i, x: [jax.pure_callback(np.sin, x, x)]\n"
            "print(lowering.differ(np.ones(2), np.ones(2)), lowering.differ(np.ones(2), np.zeros(2)), lowering.differ(np.ones(2), np.ones(3))[:7])")
    env = {**os.environ, "XLA_FLAGS": work.EIGHT, "TLA_NATIVE": "0", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, cwd=Path(__file__).resolve().parents[1], timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split("\n")[:3] == ["['forward', 'pullback']", "[{'cuda': None, 'tpu': None}, {'cuda': None, 'tpu': None}] None",
        "None other values on eight devices float64"]


def test_recording_shows_what_changed():
    known = {"seen": [["a", 1], ["b", 2.0], ["gone", 3]]}
    assert record.changes(known, [["a", 1], ["b", 2.5], ["more", 0]]) == ["gone: not asked any more", "more: asked now", "b: recorded 2.0, seen 2.5"]
    assert record.changes(None, []) == ["new"] and record.changes(known, known["seen"]) == []


def test_other_versions_become_a_table(tmp_path):
    seen = {"torch": "2.14.1", "asked": 5, "cases": {"a.1": ["x: recorded 1, seen 2|3"]}, "ops": {"abs": ["call 0: other"]}, "names": {"new": ["torch.new"],
        "gone": [], "signature": {}}}
    (tmp_path / "2.14.1.json").write_text(json.dumps(seen))
    lines = versions.table(tmp_path)
    assert "| 2.14.1 | 1 | 5 | 1 | 1 | 0 | 0 |" in lines and "| 2.14.1 | `a.1` | x: recorded 1, seen 2\\|3 |" in lines
    assert any(line.startswith("2.14.1 was not asked since the cases of these areas changed: ") for line in lines)
    assert versions.table(tmp_path / "none") == []


def test_a_case_that_ends_the_process_of_another_version():
    code = ("import os\nfrom compat_matrix import versions\n"
            "def ask(name):\n    if name == 'exits': os._exit(3)\n    if name == 'killed': os.kill(os.getpid(), 11)\n    return [name.upper()]\n"
            "print(versions.apart(['a', 'killed', 'exits', 'b'], ask))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).resolve().parents[1], timeout=120)
    assert done.stdout == ("{'a': ['A'], 'killed': ['the process ends, by signal 11'], 'exits': ['the process ends with status 3'], 'b': ['B']}\n"), done.stderr


class _Told:
    """Stands for another version of torch."""

    __version__ = "2.99.0+cpu"


def test_another_version_is_asked_only_what_changed(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setitem(sys.modules, "torch", _Told)
    monkeypatch.setattr(versions, "cases", lambda torch, area: asked.append(area) or {f"{area}.x": ["seen 1"]})
    monkeypatch.setattr(versions, "entries", lambda torch: {})
    monkeypatch.setattr(versions, "public", lambda torch: {"new": [], "gone": [], "signature": {}})
    now = {"a": ["1", 2], "b": ["2", 3]}
    monkeypatch.setattr(versions, "stamps", lambda: now)
    versions.record(folder=tmp_path)
    now["b"] = ["3", 4]
    versions.record(folder=tmp_path)
    found = json.loads((tmp_path / "2.99.0.json").read_text())
    assert asked == ["a", "b", "b"] and found["asked"] == 6 and sorted(found["cases"]) == ["a.x", "b.x"] and found["areas"] == now
    assert not any("was not asked" in line for line in versions.table(tmp_path))


def test_whole_training_steps_are_lowered():
    """Of the benchmark's models, the program of a step that repeats, for CUDA and for TPU."""
    code = ("import importlib\nfrom compat_matrix import lowering, work\nfrom benchmarks import steps\ntorch = importlib.import_module(work.PACKAGE)\n"
            "for name in ('pinn', 'cnn_adamw', 'gpt_adamw'):\n    step, found = steps.load(name), []\n    train = step.torch_step(torch, step.QUICK)\n"
            "    with lowering.catching(found, ['step']):\n        for _ in range(3):\n            loss = train()\n        float(loss)\n"
            "    print(name, len(found[-1].program.steps) > 15, lowering.lowers(found[-1]))")
    env = {**os.environ, "TLA_NATIVE": "0", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, cwd=Path(__file__).resolve().parents[1], timeout=300)
    assert done.stdout.split("\n")[:3] == [f"{name} True {{'cuda': None, 'tpu': None}}" for name in ("pinn", "cnn_adamw", "gpt_adamw")], done.stderr[-2000:]


RESULTS = [run.Result("a.one", "pass"), run.Result("a.two", "gap", ["x"]), run.Result("ops.abs", "pass", [], 0.1, {"value": "equal", "first": "equal"}),
           run.Result("columns.abs", "gap", ["y"], 0.1, {"out=": "differs"})]
NAMES = [states.State("torch.abs", "function", "equal", "", "equal", ["a.one"], ["ops.abs"]), states.State("torch.nn.Lost", "class", "missing",
    "torch.nn has no Lost </script>"),
         states.State("torch.odd", "function", "divergence", "because", workaround="torch.even")]
REASONS = {"a.two": {"reason": "arrays are immutable", "kind": "divergence", "workaround": "copy it"}, "columns.abs": {"reason": "no out=",
    "kind": "unsupported"}}


def test_the_report_counts():
    text = report.text(RESULTS, REASONS, "2.13.0", NAMES, "cafe", ["b.x", "b.y"])
    for expected in ("| a | 2 | 1 | 1 | 0 |", "| torch | 2 | 1 | 1 |", "| value | result of every sample | 1 | 1 | 0 |",
        "| out= | written into a given tensor | 1 | 0 | 1 |",
                     "arrays are immutable; instead: copy it", "- b: 2", "made from cafe"):
        assert expected in text, expected


def made_page(folder):
    file = folder / "MATRIX.html"
    file.write_text(page.html(RESULTS, NAMES, REASONS, "2.13.0", "cafe"))
    return file


def test_the_page_is_one_file_without_network(tmp_path):
    text = made_page(tmp_path).read_text()
    assert "http" not in text.replace("<!doctype html>", "") and " src=" not in text and "made from cafe" in text
    data = json.loads(text.split('type="application/json">')[1].split("</script>")[0])
    assert data["ops"]["abs"][1][report.COLUMNS.index("out=")] == "d" and data["cases"]["a"]["pass"] == ["one"] and len(data["names"]) == 3


BROWSER = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)


def browse(file, fragment, tmp_path):
    """The page's document after its script ran, in a window of a phone's width."""
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=400,800", f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=3000",
                           "--dump-dom", f"file://{file}#{fragment}"], capture_output=True, text=True, timeout=240)
    return done.stdout.split("<main")[1].split("<script")[0], done.stdout.split('role="status">')[1].split("<")[0]


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_the_page_in_a_browser(tmp_path):
    file = made_page(tmp_path)
    rows, count = browse(file, "open=1", tmp_path)
    assert "torch.abs" in rows and count == "3 of 3: 1 equal, 1 missing, 1 divergence"
    assert "used by 2" in rows and "a.one" in rows  # the first row is open
    rows, count = browse(file, "tab=names&q=odd&open=1", tmp_path)
    assert "torch.abs" not in rows and "Instead: torch.even" in rows and count.startswith("1 of 3")
    rows, count = browse(file, "tab=cases&state=gap&open=1", tmp_path)
    assert "arrays are immutable" in rows and "a.one" not in rows
    rows, count = browse(file, "tab=names&area=torch.nn", tmp_path)
    assert "torch.nn.Lost" in rows and "torch.abs" not in rows and count == "1 of 3: 1 missing"
    rows, _ = browse(file, "tab=operators&open=1", tmp_path)
    assert "written into a given tensor" in rows and "differs" in rows


FRAME = """<!doctype html><iframe id=page src="file://{file}#{fragment}" style="width:375px;height:800px;border:0"></iframe><main></main><script>
setTimeout(() => {{ const d = document.getElementById("page").contentDocument.documentElement;
document.querySelector("main").textContent = d.scrollWidth + " of " + d.clientWidth }}, 1500)</script>"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.parametrize("fragment", ["", "tab=cases&state=gap&open=1", "tab=operators&open=1", "tab=names&q=Storage&open=3"])
def test_the_page_fits_a_phone(tmp_path, fragment):
    """In a frame of 375 pixels, because the browser's own window is never so narrow."""
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(file=report.PAGE, fragment=fragment))
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=5000", "--dump-dom", f"file://{frame}"], capture_output=True, text=True, timeout=240)
    needed, given = done.stdout.split("<main>")[1].split("</main>")[0].split(" of ")
    assert int(needed) <= int(given) <= 375


def test_the_report_is_fresh():
    """Run `python -m compat_matrix run --jobs 2` where results are missing, then `python -m compat_matrix report`."""
    assert [why for f in (report.FILE, report.PAGE) if (why := report.stale(f))] == []
