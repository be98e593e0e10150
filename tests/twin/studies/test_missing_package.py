"""Where the solver of one scheduler is missing, everything else goes on, and that one says why it cannot be used."""

import orjson
import pytest

REASON = (
    "it needs the package highspy, which cannot be imported (No module named 'highspy'): pip install -r "
    "requirements.txt installs it"
)


@pytest.fixture
def simulate(without, tmp_path):
    demo, out = tmp_path / "demo", tmp_path / "out"
    made = without(
        "manage.py", "generate", "--profile", "pd-ors", "--jobs", 5, "--servers", 4, "--seed", 1, "--out", demo
    )
    assert made[1:] == ("", 0)
    files = ["--cluster", demo / "cluster.json", "--jobs", demo / "jobs.jsonl"]
    return lambda name: without("manage.py", "simulate", *files, "--scheduler", name, "--seed", 1, "--out", out)


@pytest.mark.parametrize("without", ["highspy", "scipy"], indirect=True)
@pytest.mark.thorough
def test_the_others_can_be_used(simulate):
    printed, errors, code = simulate("fifo")
    assert (errors, code) == ("", 0)
    assert printed.startswith("FIFO: 5 jobs")


@pytest.mark.thorough
def test_the_one_that_needs_it_says_so_in_one_line(simulate):
    assert simulate("pd_ors") == ("", f"simulate: scheduler 'pd_ors' is not available: {REASON}\n", 2)


@pytest.mark.thorough
def test_a_name_that_does_not_exist_is_still_distinguished_from_one_that_is_not_available(simulate):
    _, errors, code = simulate("pdors")
    assert errors.startswith("simulate: unknown scheduler 'pdors'; known: a_online, ")
    assert "pd_ors" not in errors, "it cannot be used"
    assert code == 2


def test_it_is_listed_with_its_reason(without):
    script = (
        "import json; from scheduling.kernel.registry import *; "
        "print(json.dumps([sorted(schedulers()), dict(unavailable())]))"
    )
    printed, errors, code = without("-c", script)
    able, missing = orjson.loads(printed)
    assert (errors, code) == ("", 0)
    assert "fifo" in able
    assert "pd_ors" not in able
    assert missing == {"gavel": REASON, "pd_ors": REASON}


def test_a_scheduler_is_imported_when_it_is_used(without):
    script = (
        "import sys; from scheduling.kernel.registry import build; build('fifo'); "
        "print('scheduling.algorithms.pd_ors' in sys.modules)"
    )
    assert without("-c", script) == ("False\n", "", 0)


@pytest.mark.thorough
def test_what_measures_it_is_skipped(without):
    printed, errors, code = without("manage.py", "bench", "--only", "pd_ors_decision")
    assert (errors, code) == ("", 0)
    assert f"skipped: {REASON}" in printed


def test_a_mistake_in_a_file_of_ours_is_no_missing_package(without, tmp_path):
    """Nobody is asked to install something, and the others go on."""
    (tmp_path / "broken.py").write_text("from scheduling.model.values import NoSuchName\n")
    script = (
        "from scheduling import algorithms; from scheduling.kernel import registry; "
        f"algorithms.__path__.append({str(tmp_path)!r}); print(registry.unavailable()['broken']); "
        "registry.build('fifo')"
    )
    printed, errors, code = without("-c", script)
    assert (errors, code) == ("", 0)
    assert printed.startswith(f"{tmp_path}/broken.py cannot be imported: ImportError: cannot import name 'NoSuchName'")
