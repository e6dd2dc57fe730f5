"""MATRIX.html: one page without network, with a search box, filters, counts, and rows that open."""

import json
from pathlib import Path

from compat_matrix import report, states, work

TEMPLATE = Path(__file__).parent / "page.html"
SHOWN = 12  # cases listed for a name


def html(results, named, gaps, version, stamp):
    """The page with its data inside."""
    data = {"version": version, "stamp": stamp, "states": list(states.STATES), "columns": list(report.COLUMNS), "explained": report.EXPLAINED,
            "names": [name_row(s) for s in named], "cases": case_rows(results, gaps), "ops": op_rows(results, gaps)}
    packed = json.dumps(data, separators=(",", ":"), ensure_ascii=True).replace("</", "<\\/")
    return TEMPLATE.read_text().replace("/*DATA*/", packed).replace("STAMP", stamp)


def name_row(s):
    """[name, section, state, kind, why, signature, number of cases, some of them, workaround], empty ends cut off."""
    users = [*s.cases, *s.ops]
    row = [s.name, s.section, states.STATES.index(s.state), s.kind, s.why, s.signature, len(users), spread(users), s.workaround]
    while row and not row[-1]:
        row.pop()
    return row


def spread(ids):
    """Some of many, evenly."""
    return ids[::-(-len(ids) // SHOWN)] if len(ids) > SHOWN else ids


def case_rows(results, gaps):
    """{area: {"pass": [rests of ids], "other": [[rest of id, status, reason, workaround]]}}"""
    found = {}
    for r in results:
        if r.area in work.TABLES or r.area == "names":
            continue
        here = found.setdefault(r.area, {"pass": [], "other": []})
        rest = r.id.partition(".")[2]
        if r.status == "pass":
            here["pass"].append(rest)
        else:
            gap = gaps.get(r.id, {})
            here["other"].append([rest, r.status, gap.get("reason") or "; ".join(r.problems[:3]), gap.get("workaround", "")])
    return found


def op_rows(results, gaps):
    """{entry: [public path, one letter a column (e: equal, d: differs, -: nothing to compare), reasons]}"""
    found, calls = {}, work.entries("columns")
    for r in results:
        table, _, key = r.id.partition(".")
        if table in work.TABLES and key in calls:
            row = found.setdefault(key, [calls[key]["path"], {}, []])
            row[1] |= r.columns
            if r.status != "pass":
                gap = gaps.get(r.id, {})
                row[2].append(f"{table}: {gap.get('reason') or '; '.join(r.problems[:3])}")
    return {k: [path, "".join({"equal": "e", "differs": "d"}.get(cols.get(c), "-") for c in report.COLUMNS), "; ".join(why)] for k, (path, cols,
        why) in found.items()}
