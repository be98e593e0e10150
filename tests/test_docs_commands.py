"""Commands that README.md and docs/ show: each is run as it stands there.

Except for those of servers and long measurements.

Words in capitals stand for something of the reader's: EXAMPLES says what is taken for them. A command inside a sentence
may leave out options that the sentence is not about.
"""

import os
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

import benchmarks
import experiments
from benchmarks._stack import environment
from scheduling.model.measured_speed import MeasuredSpeed
from twin.files.speed_json import dump_speed

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name != "changelog.md")]
COMMAND = r"(?:(?:python )?manage\.py \w|bin/\w|celery |uvicorn |\. \.venv/)"
# what does not end, needs a cluster or the data of a twin, installs packages, or runs this file
SERVERS = (
    "bin/up",
    "bin/test",
    "bin/serve",
    "bin/prepare",
    "manage.py doctor",
    "manage.py backup",
    "manage.py prune",
    "celery",
    "uvicorn",
    "manage.py up",
    "manage.py ticker",
    "manage.py follow",
    "manage.py connect",
    "manage.py act",
    "manage.py verify_run",
)
FILES = {
    "mine.csv": "submitted,seconds,cards\n2024-05-01 10:00:00,3600,2\n2024-05-01 10:05:00,1800,1\n",
    "arrivals.csv": "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-01 00:00:00,600,1,600,a\n2017-10-01 "
    "00:01:00,600,1,600,a\n2017-10-01 00:02:00,600,1,600,a\n",
    "measured.json": dump_speed(MeasuredSpeed(2.0, 0.05, 0.7, 4.0, 256, 4, 0.9, 0.01, 0.02), []).decode(),
}
EXAMPLES = {
    "generate --jobs N": "3", "generate --servers N": "4", "generate --seed S": "1", "generate --out DIR": "generated",
    "generate --trace FILE": "arrivals.csv",
    "import_trace FILE": "arrivals.csv", "import_trace --limit N": "1", "import_trace --seed S": "1",
    "import_trace --out DIR": "imported", "simulate --cluster F": "small/cluster.json",
    "simulate --jobs F": "small/jobs.jsonl", "simulate --scheduler NAME": "fifo",
    "simulate --param NAME=VALUE": "backfill=true", "simulate --believe NAME": "limit",
    "simulate --speed FILE": "measured.json", "simulate --seed S": "1", "simulate --out DIR": "simulated",
    "verify DIR": "played", "bench --only NAME": "certificate", "reproduce --only ID": "oasis_fig07",
    "reproduce --seeds N": "1", "reproduce --arrivals TRACE": "arrivals.csv", "reproduce --processes N": "2",
    "reproduce --json FILE": "tables.json",
}  # fmt: skip
SLOW = ("reproduce", "bench")
MINUTES = "reproduce --only replanning_utility"  # also with one seed
SHORTER = {"reproduce": ["--seeds"]}  # one seed instead of several
ENVIRONMENTS = {
    "manage.py check --deploy": {
        "HTTPS": "true",
        "SECRET_KEY": "a-secret-of-fifty-characters-or-more-1234567890-abcdef",
    }
}


def blocks(text: str) -> list[list[str]]:
    """The fenced and indented blocks of a page whose lines are all commands, without their remarks."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    indented = re.findall(r"(?:(?<=\n\n)|\A)((?: {4}\S.*\n)+)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    whole = [re.sub(r"\\\n\s*", "", block) for block in [*fenced, *indented]]  # lines that go on after a backslash
    found = [[line.strip() for line in block.splitlines() if line.strip()] for block in whole]
    return [
        [re.split(r"\s{3,}|\s+# ", line)[0] for line in block]
        for block in found
        if all(re.match(COMMAND, line) for line in block)
    ]


def in_sentences(text: str) -> list[str]:
    """The commands in backquotes between words."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return [" ".join(span.split()) for span in re.findall(rf"`({COMMAND}[^`]*)`", text)]


def words_after_manage(command: str) -> list[str]:
    return re.sub(r"^(python )?manage\.py ", "", command).split()


def filled(command: str) -> list[str]:
    """The command with all of its options and an example for each placeholder, once for each of its alternatives."""
    words = re.sub(r"[\[\]]|\.\.\.", " ", command).split()
    name, choices = words_after_manage(command)[0], []
    for before, word in zip(["", *words], words, strict=False):
        if re.fullmatch(r"[A-Z]+|NAME=VALUE", word):
            key = f"{name} {before} {word}" if before.startswith("-") else f"{name} {word}"
            choices.append([EXAMPLES[key]])
        else:
            choices.append(word.split("|"))
    chosen = zip_longest(*choices)
    return [" ".join(word or options[-1] for word, options in zip(row, choices, strict=True)) for row in chosen]


def completed(command: str) -> str:
    """The command, with an example of each omitted option that it needs or that shortens its run."""
    name, *given = words_after_manage(command)
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    needed = [action.option_strings[0] for action in parser._actions if action.required and action.option_strings]
    needed += SHORTER.get(name, [])
    examples = {key.split()[1]: example for key, example in EXAMPLES.items() if key.startswith(f"{name} --")}
    return " ".join([command, *(f"{option} {examples[option]}" for option in needed if option not in given)])


def is_server(command: str) -> bool:
    return command.removeprefix("python ").startswith(SERVERS)


def is_measurement(command: str) -> bool:
    """True for the table of all rows, and for rows and experiments that take minutes."""
    return (words_after_manage(command)[0] == "bench" and "certificate" not in command) or MINUTES in command


def is_mention(command: str) -> bool:
    return command.removeprefix("python ").startswith("manage.py") and len(words_after_manage(command)) == 1


def shown() -> list[tuple[Path, list[str]]]:
    """(page, script) of all that is shown; patterns stand alone, other lines of a block follow each other."""
    found: list[tuple[Path, list[str]]] = []
    for page in PAGES:
        text = page.read_text()
        for block in blocks(text):
            patterns = any(re.search(r"[\[|]", line) for line in block)
            found += [(page, [line]) for line in block] if patterns else [(page, block)]
        found += [(page, [command]) for command in in_sentences(text)]
    return found


def scripts() -> list:
    """One case for each script that can be run; slow where it plays experiments."""
    cases: dict[str, None] = {}
    for _, block in shown():
        if any(is_server(line) or is_measurement(line) for line in block) or (len(block) == 1 and is_mention(block[0])):
            continue
        if len(block) > 1:
            cases["\n".join(block)] = None
        else:
            cases.update(dict.fromkeys(map(completed, filled(block[0]))))
    return [
        pytest.param(
            script,
            id=script.splitlines()[-1],
            marks=[pytest.mark.slow] if any(f"manage.py {name}" in script for name in SLOW) else [],
        )
        for script in cases
    ]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A folder that looks like a checkout to who types a command, with some files of the reader's."""
    if not (Path(sys.prefix) / "bin" / "activate").exists():
        pytest.fail(f"the README activates .venv: run this with the Python of a virtual environment, not {sys.prefix}")
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "manage.py").symlink_to(ROOT / "manage.py")
    (folder / ".venv").symlink_to(sys.prefix)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    made = "manage.py generate --profile oasis --jobs 5 --servers 4 --seed 1 --out small"
    played = (
        "manage.py simulate --cluster small/cluster.json --jobs small/jobs.jsonl --scheduler fifo --seed 1 --out played"
    )
    done = typed(folder, f"{made}\n{played}")
    assert done.returncode == 0, done.stderr
    return folder


def typed(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """What becomes of a script in that folder; `manage.py` alone is found there."""
    path = os.pathsep.join([str(folder), str(Path(sys.prefix) / "bin"), os.environ["PATH"]])
    env = environment(folder / "var") | {"PATH": path} | ENVIRONMENTS.get(script, {})
    return subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=env, capture_output=True, text=True)


def test_every_command_of_a_page_is_taken():
    """A block with a line of another form, or a command in an unknown place, would be left out in silence."""
    left = {}
    for page in PAGES:
        taken = "\n".join(line for found, block in shown() if found == page for line in block)
        text = re.sub(r"^```\n\S+ -> .*?^```", "", page.read_text(), flags=re.M | re.S)  # a drawing
        text = " ".join(text.split())
        named = re.findall(r"manage\.py [a-z_]+|(?<![\w/])bin/[a-z]+|celery -A \w+|uvicorn \w+\.[\w.]+:\w+", text)
        left |= {
            (page.name, command): more for command in named if (more := named.count(command) - taken.count(command)) > 0
        }
    assert left == {}
    run = {
        words_after_manage(line)[0] for case in scripts() for line in case.values[0].splitlines() if "manage.py" in line
    }
    assert run >= {"check", "generate", "import_trace", "reproduce", "simulate", "verify"}


@pytest.mark.parametrize(
    "script", ["manage.py verify nowhere", "manage.py nothing\nmanage.py verify played", "manage.py simulate"]
)
def test_a_command_that_fails_is_noticed(checkout, script):
    assert typed(checkout, script).returncode != 0


@pytest.mark.parametrize("script", scripts())
@pytest.mark.thorough
def test_what_is_shown_runs(checkout, script):
    done = typed(checkout, script)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "command", sorted({line for _, block in shown() for line in block if is_server(line) or is_mention(line)})
)
def test_what_is_not_run_is_there(command):
    program, *words = command.removeprefix("python ").split()
    if program == "manage.py":
        assert words[0] in get_commands()
    elif program.startswith("bin/"):
        assert os.access(ROOT / program, os.X_OK)
    else:
        assert shutil.which(program, path=os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ["PATH"]]))


def test_the_rows_of_measurements_and_long_experiments_exist():
    lines = [line for _, block in shown() for line in block if "[" not in line]
    measured = [line for line in lines if "manage.py bench" in line]
    rows = {name for line in measured for name in re.findall(r"--only (\w+)", line)}
    assert len(measured) >= 2
    assert rows <= set(benchmarks.names())
    assert any(MINUTES in line for line in lines)
    assert MINUTES.split()[-1] in experiments.names()


def test_commands_are_found_wherever_they_stand():
    """In fences, indented, and in sentences; a drawing is none."""
    page = (
        "Text `manage.py verify DIR`:\n\n    python manage.py bench   # some minutes\n\n```\nbin/up -> a\n  "
        "b\n```\n\n```\nbin/test \\\n   --fast\n```\n"
    )
    assert blocks(page) == [["bin/test --fast"], ["python manage.py bench"]]
    assert in_sentences(page) == ["manage.py verify DIR"]
    assert filled("manage.py generate --variant a|b --jobs N") == [
        "manage.py generate --variant a --jobs 3",
        "manage.py generate --variant b --jobs 3",
    ]
