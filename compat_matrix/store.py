"""The recorded answers: one JSON file for each area, one line for each case."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "oracle"


def path(area, folder=FOLDER):
    return Path(folder) / f"{area}.json"


def read(area, folder=FOLDER):
    """{"torch": version, "cases": {id: {"hash": ..., "seen": [[label, observation], ...]}}}"""
    file = path(area, folder)
    if not file.exists():
        return {"torch": None, "cases": {}}
    return json.loads(file.read_text())


def write(area, answers, folder=FOLDER):
    rows = [f" {json.dumps(name)}: {dumps(answer)}" for name, answer in answers["cases"].items()]
    text = f'{{"torch": {json.dumps(answers["torch"])}, "cases": {{\n' + ",\n".join(rows) + "\n}}\n"
    path(area, folder).write_text(text)


def dumps(value):
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def plain(value):
    """What `value` looks like after it was written and read again."""
    return json.loads(dumps(value))
