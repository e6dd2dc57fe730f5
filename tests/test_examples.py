"""The examples say only ``import torch``; run unmodified under us they print what torch prints."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from sampling import sample

ROOT = pathlib.Path(__file__).resolve().parents[1]
ORACLE = json.loads((pathlib.Path(__file__).parent / "data" / "examples_oracle.json").read_text())
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
TIME_LIMIT = 300


def run(script):
    """Run an example under us and return its standard output, line by line."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "torchlike_autograd", str(ROOT / "examples" / script)],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def numbers(line):
    """Return every number of a line."""
    return [float(text) for text in NUMBER.findall(line)]


def words(line):
    """Return the line with its numbers, and the spaces that align them, left out."""
    return NUMBER.sub("#", line).split()


def last_digit(text):
    """Return what one unit in the last digit of a printed number is worth."""
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals) if "." in text else 0.0


def last_number(lines, start):
    """Return the last number of the one line that begins with `start`."""
    (line,) = (line for line in lines if line.startswith(start))
    return numbers(line)[-1]


@pytest.mark.parametrize("script", sample(sorted(ORACLE["scripts"]), 2))
def test_example(script):
    """An example prints what it prints under torch, and reaches what it was written to reach."""
    assert script in GOALS, f"say in GOALS what {script} must reach"
    ours = run(script)
    _compare(ours, ORACLE["scripts"][script])
    GOALS[script](ours)


def _compare(ours, theirs):
    """Every line has torch's words, and its numbers but for one unit in the last printed digit."""
    assert [words(line) for line in ours] == [words(line) for line in theirs]
    for our_line, their_line in zip(ours, theirs, strict=True):
        for our_text, their_text in zip(
            NUMBER.findall(our_line), NUMBER.findall(their_line), strict=True
        ):
            unit = last_digit(their_text)
            assert float(our_text) == pytest.approx(float(their_text), rel=0, abs=1.01 * unit), (
                f"{our_line!r} under us, {their_line!r} under torch"
            )


def digits_goal(lines):
    """At least 96 % of the digits held out are read."""
    assert last_number(lines, "final held-out accuracy") >= 0.96


def pinn_goal(lines):
    """The solution is right to three decimals."""
    assert last_number(lines, "max error") < 1e-3


def curve_fit_goal(lines):
    """The derivatives written by hand pass, and the coefficients are found within the noise."""
    assert lines[0] == "derivatives agree True"
    for found, true in (numbers(line)[1:] for line in lines if line.startswith("c[")):
        assert found == pytest.approx(true, abs=0.05)


def cnn_goal(lines):
    """Most held-out digits are read, also by the network that was saved and loaded."""
    assert last_number(lines, "after loading") >= 0.94


def falls_to(start, most):
    """Make a goal: the last line that begins with `start` ends with a number of at most `most`."""

    def goal(lines):
        assert numbers([line for line in lines if line.startswith(start)][-1])[-1] <= most

    return goal


def vae_goal(lines):
    """The images are told from one another."""
    assert numbers(lines[-1])[1] < 26


def language_goal(lines):
    """The model goes on as the text does."""
    assert lines[-1] == "the quick brown fox j"


def maml_goal(lines):
    """A step on a few points of a new wave helps."""
    assert all(after < before for _, before, after in map(numbers, lines))


def gpt_goal(lines):
    """Rows are reversed."""
    assert last_number(lines, "share of letters") >= 0.99


GOALS = {"digits.py": digits_goal, "pinn.py": pinn_goal, "curve_fit.py": curve_fit_goal, "cnn.py": cnn_goal, "vae.py": vae_goal,
         "language_model.py": language_goal, "gan.py": falls_to("step", 0.5), "maml.py": maml_goal, "actor_critic.py": falls_to("episode", 4.0),
         "small_gpt.py": gpt_goal}
