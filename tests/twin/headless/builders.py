"""Commands as calls and as processes, and changes of files."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

from tests.twin.builders import run

ROOT = Path(__file__).resolve().parents[3]
ODD = (None, True, -1, 0, 1.5, "x", "", [], {}, 2**53, 2**63, 10**30, 1e308, -1e308, [None], {"a": 1}, "\0", [[1]])
PIECES = (b",", b'"', b"\n", b"-1", b"nan", b"1e400", b"9" * 30, b"\0", b"\xff", b"[" * 2_000)


def simulated(inputs, out, scheduler="fifo", *more):
    return run(
        "simulate",
        "--cluster",
        inputs / "cluster.json",
        "--jobs",
        inputs / "jobs.jsonl",
        "--scheduler",
        scheduler,
        "--seed",
        7,
        "--out",
        out,
        *more,
    )


def started(*arguments, **options):
    """The command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *map(str, arguments)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def change(path, edit):
    """Edits the value of a .json, or the lines of another file."""
    if path.suffix == ".json":
        value = json.loads(path.read_bytes())
        edit(value)
        path.write_text(json.dumps(value))
    else:
        lines = path.read_text().splitlines(keepends=True)
        edit(lines)
        path.write_text("".join(lines))


def line(number, edit):
    """An edit of one object of a .jsonl."""

    def edited(lines):
        value = json.loads(lines[number])
        edit(value)
        lines[number] = json.dumps(value) + "\n"

    return edited


def setting(*path):
    """An edit that sets a value: the last item of `path`, under the keys before it."""
    *keys, last, value = path

    def edit(target):
        for key in keys:
            target = target[key]
        target[last] = value

    return edit


def removing(*path):
    *keys, last = path

    def edit(target):
        for key in keys:
            target = target[key]
        del target[last]

    return edit


def mutated(rng, name, data):
    """The file with a few bytes, or a value somewhere in it, changed."""
    if name == "schedule.csv" or rng.random() < 0.3:
        wrong = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(wrong) + 1)
            wrong[at : at + rng.choice([0, 1, rng.randint(1, 40)])] = rng.choice([b"", *PIECES])
        return bytes(wrong)
    lines = [json.loads(text) for text in ([data] if name.endswith(".json") else data.splitlines())]
    for _ in range(rng.randint(1, 2)):
        place, key = lines, rng.randrange(len(lines))
        while isinstance(place[key], dict | list) and place[key] and rng.random() < 0.75:
            place = place[key]
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if rng.random() < 0.2 and place is not lines:
            del place[key]
        else:
            place[key] = deepcopy(rng.choice(ODD))
    return "\n".join(map(json.dumps, lines)).encode()
