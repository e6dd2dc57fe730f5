"""Running the cases under the package and comparing with the recorded answers."""

import re
from collections import Counter
from dataclasses import dataclass, field

from compat_matrix import gaps as gap_list
from compat_matrix import store
from compat_matrix.case import load, selects
from compat_matrix.compare import differences
from compat_matrix.isolate import observe_safely

STALE = "the recorded answer belongs to another text of this case; run `python -m compat_matrix record`"
MISSING = "no answer is recorded for this case; run `python -m compat_matrix record`"
ORPHAN = "an answer is recorded for a case that is gone; run `python -m compat_matrix record`"
UNEXPECTED = "is listed in gaps.toml but passes: remove it from the list"
UNKNOWN = "is listed in gaps.toml but there is no such case"
BAD = ("fail", "stale", "unexpected pass", "unknown gap")
CRASH = "the case itself"
MOST = 20  # of them that are shown without -v


@dataclass
class Result:
    id: str
    status: str                                   # "pass", "gap" or one of BAD
    problems: list = field(default_factory=list)
    seconds: float = 0.0
    columns: dict = field(default_factory=dict)   # of an entry of the op table: column -> "equal" or "differs"

    @property
    def area(self):
        return self.id.partition(".")[0]


def check(case, torch, answer):
    """What is wrong with one case: a list of lines, empty if nothing is."""
    return [line for lines in by_label(case, torch, answer).values() for line in lines]


def by_label(case, torch, answer):
    """{label: [lines]} of the observations that differ; CRASH for a case that does not end."""
    seen, crash = observe_safely(case, torch)
    if crash:
        return {CRASH: [crash]}
    recorded, seen = dict(answer["seen"]), dict(store.plain(seen))
    found = {label: [f"{label}: not seen"] for label in recorded if label not in seen}
    found |= {label: [f"{label}: not recorded"] for label in seen if label not in recorded}
    found |= {label: differences(recorded[label], seen[label], label) for label in recorded if label in seen}
    return {str(label): lines for label, lines in found.items() if lines}


def with_labels(id, found, gap):
    """The Result of a listed case; of its observations only those may differ that the gap lists (all, where it lists none), and each of them must."""
    listed = set(gap.get("labels", found))
    astray = [line for label, lines in found.items() if label not in listed for line in lines]
    closed = sorted(listed - set(found))
    if astray:
        return Result(id, "fail", astray)
    if closed or not found:
        return Result(id, "unexpected pass", [f"{UNEXPECTED} ({', '.join(closed)})" if found else UNEXPECTED])
    return Result(id, "gap", [line for lines in found.values() for line in lines])


def judge(case, torch, answer, gap):
    """One case, its recorded answer (or None) and its gap (or None): a Result."""
    if answer is None:
        return Result(case.id, "stale", [MISSING])
    if answer["hash"] != case.fingerprint():
        return Result(case.id, "stale", [STALE])
    if gap:
        return with_labels(case.id, by_label(case, torch, answer), gap)
    problems = check(case, torch, answer)
    return Result(case.id, "fail" if problems else "pass", problems)


def bookkeeping(cases, answers, gaps, only=None):
    """Gaps and recorded answers that belong to no case."""
    strays = [Result(n, "unknown gap", [UNKNOWN]) for n in gaps
              if n not in cases and (not only or selects(only, n))]
    return strays + [Result(n, "stale", [ORPHAN]) for area in answers.values()
                     for n in area["cases"] if n not in cases and (not only or selects(only, n))]


def run_all(torch, only=None, folder=store.FOLDER, gaps=None, progress=None):
    """Results of all cases that `only` selects."""
    cases, gaps = load(only), gap_list.read() if gaps is None else gaps
    answers = {area: store.read(area, folder) for area in {c.area for c in cases.values()}}
    results = bookkeeping(cases, answers, gaps, only)
    for name, case in cases.items():
        answer = answers[case.area]["cases"].get(name)
        results.append(judge(case, torch, answer, gaps.get(name)))
        if progress:
            progress(results[-1])
    return results


def counts(results):
    """{area: Counter of statuses} and the total under "total": the one definition of what the command and the report print.  `names` is no row of it: the
    public names have a table of their own."""
    found = {}
    for result in results:
        if result.area != "names":
            found.setdefault(result.area, Counter())[result.status] += 1
    return {**{area: found[area] for area in sorted(found)}, "total": sum(found.values(), Counter())}


def summary(results):
    """One line for each area, and a total; before it one for the public names, where they were looked at."""
    lines = [row(area, count) for area, count in counts(results).items()]
    named = [row("public names", Counter(n.columns["all"]), "equal") for n in results if n.id == "names"]
    return [*lines[:-1], *named, lines[-1]]


def row(area, count, good="pass"):
    total = sum(count.values())
    others = ", ".join(f"{n} {status}" for status, n in sorted(count.items()) if status != good)
    return f"{area:14} {count[good]:5} of {total:5} {good}" + (f"   ({others})" if others else "")


def show(result):
    text = f"{result.status.upper()} {result.id}"
    return "\n".join([text] + [f"    {line}" for line in result.problems[:12]])


def cause(problem):
    """A problem with the particulars taken out, so that like ones count together."""
    problem = re.sub(r" \(at .*", "", problem)
    problem = re.sub(r"^[^:]*?(\.class|\.message|\.values|\.dtype|\.shape|\.requires_grad)?(\[[0-9\[\]]*\])?: recorded",
                     r"\1: recorded", problem)
    return problem[:160]


def telling(problems):
    """The problem that says most: a missing name, else the first."""
    return next((p for p in problems if "has no attribute" in p or "No module named" in p), problems[0])


def common(results, most=40):
    """The commonest problems of the failing cases."""
    counts = Counter(cause(telling(r.problems)) for r in results if r.status == "fail")
    return [f"{n:5}  {text}" for text, n in counts.most_common(most)]


def main(only=None, verbose=False, causes=False, **how):
    """Run what `only` selects; how: see `session`."""
    from compat_matrix import session

    results = session.run(only, verbose=verbose, **how)
    bad = [r for r in results if r.status in BAD and (not verbose or r.problems[0] in (ORPHAN, UNKNOWN))]  # verbose: the others were shown as they came
    shown = bad if verbose else bad[:MOST]
    hidden = [f"and {len(bad) - len(shown)} more: -v shows all as they come, --causes groups them"] if len(bad) > len(shown) else []
    print("\n".join([*map(show, shown), *hidden, *summary(results)]))
    if causes:
        print("\n".join(common(results)))
    return 1 if any(r.status in BAD for r in results) else 0
