"""The list of experiments and the frame in which they are told; their figures are in test_orderings."""

import json
import re

import pytest
from django.core.management import call_command

from twin import experiments
from twin.experiments import Ask, Figure, Skip, Table, p12
from twin.management.commands.reproduce import lines


def test_every_experiment_says_what_it_is_about():
    known = experiments.experiments()
    assert {"O3", "O8", "P6", "P14_17"} <= set(known)
    assert list(known) == sorted(known, key=lambda name: (name[0], int(re.search(r"\d+", name)[0])))
    for module in known.values():
        assert all((module.TITLE, module.PAPER, module.CLAIM, module.SETTING, callable(module.run)))


def test_a_table_holds_when_every_band_is_kept():
    kept, missed, told = Figure("a", 2, "x", 1, at_least=True), Figure("b", 2, "x", 1), Figure("c", 2, "x")
    assert Table((), (), (kept, told)).holds
    assert not Table((), (), (kept, missed)).holds


def test_a_wide_table_stands_on_its_side():
    assert lines(Table(("jobs", "A"), ((10, 1_500.0), (200, float("nan"))), ())) == [
        "jobs        A",
        "10      1,500",
        "200   not run",
    ]
    wide = Table(tuple("abcdefghi"), (tuple(range(9)),), ())
    assert lines(wide)[:2] == ["a  0", "b  1"]


def test_an_experiment_is_told_and_written(capsys, tmp_path):
    call_command("reproduce", only=["o7"], seeds=1, json=tmp_path / "o7.json")
    told = capsys.readouterr().out
    assert "O7 (OASiS, Fig. 7)" in told
    assert re.search(r"OASiS to the best other .* x +>= 0.95 x +(ok|does not hold)", told)
    found = json.loads((tmp_path / "o7.json").read_text())["experiments"][0]
    assert (found["id"], found["columns"][1], len(found["rows"])) == ("O7", "OASiS", 1)
    assert found["holds"] == all(check["holds"] is not False for check in found["checks"])


def test_what_needs_a_trace_is_skipped_without_one(capsys):
    with pytest.raises(Skip, match="--arrivals"):
        p12.run(Ask())
    call_command("reproduce", only=["P12"])
    assert "skipped: needs --arrivals FILE" in capsys.readouterr().out


@pytest.mark.slow
def test_a_trace_gives_arrivals_and_kinds(tmp_path):
    """Through its importer, as any trace."""
    rows = [f"2017-10-01 {i // 60:02}:{i % 60:02}:00,600,1,600,a" for i in range(120)]  # of a Philly window, a minute apart
    (tmp_path / "trace.csv").write_text("\n".join(["timestamp,duration,num_gpus,gpu_time,cluster", *rows]) + "\n")
    table = p12.run(Ask(seeds=1, arrivals=tmp_path / "trace.csv"), servers=(10,))
    assert table.columns == ("servers", "PD-ORS", "OASiS", "FIFO", "DRF", "RRH", "Dorm")
    assert table.rows[0][1] > 0


def test_an_unknown_experiment_is_answered_with_those_that_exist(capsys):
    with pytest.raises(SystemExit, match="2"):
        call_command("reproduce", only=["O99"])
    assert re.match(r"reproduce: unknown experiment 'O99'; known: .*O3, O4", capsys.readouterr().err)
