"""Which torch names a program uses, with their states: `python -m compat_matrix scan PATH... | PACKAGE...`; nothing of it is run.

Imports and their aliases are followed; an attribute of anything else may be one of a tensor and is looked up there by its name, without being trusted to be
one:
it counts as needed only if no common type has an attribute of that name.  The last line says `runs`, `runs with divergences: ...` or `needs: ...`;
the exit status is 0, 0, or 1.
"""

import argparse
import importlib
import importlib.util
import re
import sys
from pathlib import Path

from compat_matrix import names, used
from compat_matrix.observe import PACKAGE

NEEDED = ("missing", "refused")
TESTS = {"tests", "test", "testing"}  # what a package named by its name is not read for
ELSEWHERE = used.OTHERS | set(dir(sys))


class Scan:
    """Collects the names of many files; `states`: {name: state} of the matrix."""

    def __init__(self, states):
        self.states, self.known = states, states.keys()
        self.found, self.keywords, self.unread, self.files = {}, {}, [], 0  # {name: [(file, line)]}, {name: keywords given}, [(file, error)]
        self.looked, self.texts, self.pending = {}, set(), []  # {name: places that only compare with it}, strings of all files, files without torch so far
        self.torch, self.public, self.others = importlib.import_module(PACKAGE), names.read(), names.others()

    def file(self, path):
        """Read one file; what cannot be read is said."""
        try:
            seen = used.uses(Path(path).read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError, OSError) as error:
            self.unread.append((path, f"{type(error).__name__}: {error}"))
            return
        self.files += 1
        for name, words in seen.keywords.items():
            self.keywords.setdefault(name, set()).update(words)
        self.texts |= seen.texts
        for name, lines in seen.names.items():
            lines = [n for n in lines if n not in seen.excused.get(name, ())]
            if name != used.ROOT and name not in seen.asked and lines:
                self.note(self.spelled(name), path, lines)
                self.looked.setdefault(self.spelled(name), set()).update((str(path), n) for n in seen.looked.get(name, ()))
        self.pending.append((seen, path))
        if self.found or seen.bound or seen.starred:  # from here on there is torch in what is read: the others may be given its tensors
            for held in self.pending:
                self.attributes(*held)
            self.pending.clear()

    def attributes(self, seen, path):
        """Attributes of what may be tensors: those with a name that Tensor has, unless the file defines it itself."""
        own = defined(path)
        for name, lines in seen.attributes.items():
            full = f"torch.Tensor.{name}"
            if full in self.known and full not in seen.asked and name not in own and (self.states[full].state not in NEEDED or name not in ELSEWHERE):
                self.note(full, path, lines)

    def spelled(self, name):
        """The recorded name that a path stands for: the longest that is recorded, or the path where torch's part of it is not."""
        known = used.cut(name, self.known)
        if known is None or self.states[known].kind == "module":
            return name
        return known

    def note(self, name, path, lines):
        self.found.setdefault(name, []).extend((str(path), line) for line in lines)

    def state(self, name):
        """(state, why) of a used name, recorded or not."""
        if name in self.known:
            found = self.states[name]
            lacking = re.match(r"no keyword '(.*)'$|parameter \d+ is '(.*)', here '(?!absent)", found.signature)
            if found.state == "different" and lacking and not {lacking[1] or lacking[2], "**"} & self.keywords.get(name, set()):
                return ("equal" if found.cases or found.ops else "unproved"), ""  # nothing here gives that keyword
            if found.state == "refused" and self.only_looked_at(name):
                return "equal", "only compared with here, or named in annotations"
            return found.state, found.why
        try:
            value = names.find(self.torch, PACKAGE + name.removeprefix("torch"))
        except Exception as error:
            if self.own_operator(name):
                return "equal", "an operator that these sources define"
            if self.foreign(name):
                return "not torch's", "no name of this version of PyTorch either: it is reached only with another version"
            return "missing", f"{error}".replace(PACKAGE, "torch")
        reason = names.refusal(value)
        if reason and not self.only_looked_at(name):
            return "refused", reason
        return "unproved", "no public name of torch; it is there"

    def only_looked_at(self, name):
        """Whether every use only asks whether something is one, and the name is there for that."""
        try:
            names.find(self.torch, PACKAGE + name.removeprefix("torch"))
        except Exception:
            return False
        return set(self.found.get(name, [None])) <= self.looked.get(name, set())

    def own_operator(self, name):
        """Whether `torch.ops.SPACE.NAME` is registered by these sources: they hold "SPACE::NAME", alone or before its signature."""
        parts = name.split(".")
        return parts[:2] == ["torch", "ops"] and len(parts) > 3 and any(t.startswith(f"{parts[2]}::{parts[3]}") for t in self.texts)

    def foreign(self, name):
        """Whether PyTorch itself lacks a name: one of a module of which everything is recorded, and it is not there."""
        parts = name.split(".")
        for i in range(1, len(parts)):
            space, one = ".".join(parts[:i]), parts[i]
            if space in self.others and f"{space}.{one}" not in self.public and one not in self.others[space]:
                return not (one.startswith("__") and one.endswith("__"))
        return False

    def verdict(self):
        """(last line, exit status)."""
        by_state = {}
        for name in sorted(self.found):
            by_state.setdefault(self.state(name)[0], []).append(name)
        needed = [n for s in NEEDED for n in by_state.get(s, [])]
        if needed:
            return f"needs: {', '.join(needed)}", 1
        doubtful = by_state.get("divergence", []) + by_state.get("different", [])
        return (f"runs with divergences: {', '.join(doubtful)}" if doubtful else "runs"), 0


def defined(path):
    """Names of the attributes and methods that a file defines: `self.index = ...`, `def index(self)`."""
    import ast

    found = set()
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def sources(asked):
    """The Python files of a path, or of an installed package or module by name."""
    path = Path(asked)
    if path.is_dir():
        return sorted(path.rglob("*.py"))
    if path.is_file():
        return [path]
    try:
        spec = importlib.util.find_spec(asked)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise SystemExit(f"{asked!r} is no file, no folder and no installed package")
    folders = [Path(p) for p in spec.submodule_search_locations or ()]
    return sorted(f for folder in folders for f in folder.rglob("*.py") if not TESTS & set(f.relative_to(folder).parts)) or [Path(spec.origin)]


def scan(asked, states):
    """A Scan of paths and packages."""
    made = Scan(states)
    for one in asked:
        for file in sources(one):
            made.file(file)
    return made


def report(made, everything=False):
    """Lines: every used name with its state and first place, the doubtful and missing ones with why."""
    for name in sorted(made.found):
        state, why = made.state(name)
        places = made.found[name]
        path, line = places[0]
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        if everything or state != "equal":
            yield f"{state:11} {name}  ({path}:{line}{more}){': ' + why if why else ''}"
        else:
            yield f"{state:11} {name}"
    for path, error in made.unread:
        yield f"unread      {path}: {error}"


def main(arguments):
    """`scan PATH_OR_PACKAGE... [--where]`"""
    parser = argparse.ArgumentParser(prog="python -m compat_matrix scan", description=__doc__)
    parser.add_argument("paths", nargs="+", help="files, folders, or names of installed packages")
    parser.add_argument("--where", action="store_true", help="the place of every name, of the equal ones too")
    given = parser.parse_args(arguments)
    from compat_matrix import states

    made = scan(given.paths, {s.name: s for s in states.compute()})
    print("\n".join(report(made, given.where)))
    line, status = made.verdict()
    unread = f" ({len(made.unread)} files could not be read)" if made.unread else ""
    print(f"{made.files} files, {len(made.found)} torch names{unread}")
    print(line)
    return status or (2 if made.unread and not made.files else 0)
