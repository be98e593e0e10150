"""The list of experiments and the form in which they are printed; their figures are in test_orderings."""

import json
import re

import pytest
from django.core.management import call_command

import experiments
from experiments import Figure, Options, Skip, Table, experiment, run
from experiments._text import lines
from scheduling.reporting.figure import in_words
from twin.traces.replay import arrivals_of


def test_every_experiment_says_what_it_is_about():
    for name in experiments.names():
        module = experiment(name)
        assert module.CLAIM[0].isupper(), name
        texts = (module.TITLE, module.PAPER, module.CLAIM, module.SETTING)
        assert all((*texts, module.CHARTS, callable(module.run))), name


@pytest.mark.parametrize("name", experiments.names())
def test_an_experiment_is_named_after_its_paper_figure_and_topic(name):
    """The figure or section of the name is the one that the file gives as its source."""
    if experiment(name).PAPER.startswith("ours, "):
        assert name.startswith("replanning_")
        return
    paper, kind, number = re.fullmatch(r"(oasis|pd_ors|a_online|harmony)_(fig|sec)(\d\d|5[a-z])_[a-z_]+", name).groups()
    source = experiment(name).PAPER
    assert source.lower().replace("-", "_").startswith(f"{paper}, ")
    assert (f"Fig. {int(number)}" if kind == "fig" else f"Section V-{number[1].upper()}") in source


def test_the_beginning_of_a_name_is_enough():
    assert experiments.full_name("oasis_fig06") == "oasis_fig06_price_range"
    assert experiments.full_name("oasis_fig06_price_range") == "oasis_fig06_price_range"


def test_a_beginning_of_several_names_is_answered_with_them(capsys):
    with pytest.raises(SystemExit, match="2"):
        call_command("reproduce", only=["oasis_fig0"])
    assert re.fullmatch(
        r"reproduce: experiment 'oasis_fig0' matches 6 experiments: oasis_fig03_utility_by_jobs, .*; specify one\n",
        capsys.readouterr().err,
    )


def test_a_table_holds_when_every_band_is_kept():
    kept, missed, plain = Figure("a", 2, "x", 1, at_least=True), Figure("b", 2, "x", 1), Figure("c", 2, "x")
    assert Table((), (), (kept, plain)).holds
    assert not Table((), (), (kept, missed)).holds


def test_a_wide_table_stands_on_its_side():
    assert lines(Table(("jobs", "A"), ((10, 1_500.0), (200, float("nan"))), ())) == [
        "jobs        A",
        "10      1,500",
        "200   not run",
    ]
    wide = Table(tuple("abcdefghi"), (tuple(range(9)),), ())
    assert lines(wide)[:2] == ["a  0", "b  1"]


def test_an_experiment_is_printed_and_written(capsys, tmp_path):
    call_command("reproduce", only=["oasis_fig07"], seeds=1, json=tmp_path / "found.json")
    printed = capsys.readouterr().out
    assert "oasis_fig07_testbed_utility (OASiS, Fig. 7)" in printed
    assert re.search(r"OASiS / best other .* x +>= 0.95 x +(ok|does not hold)", printed)
    found = json.loads((tmp_path / "found.json").read_text())["experiments"][0]
    assert (found["id"], found["columns"][1], len(found["rows"])) == ("oasis_fig07_testbed_utility", "OASiS", 1)
    assert found["holds"] == all(check["holds"] is not False for check in found["checks"])


def test_what_needs_a_trace_is_skipped_without_one(capsys):
    with pytest.raises(Skip, match="--arrivals"):
        run("pd_ors_fig12", Options())
    call_command("reproduce", only=["pd_ors_fig12"])
    assert "skipped: needs --arrivals FILE" in capsys.readouterr().out


@pytest.mark.slow
def test_a_trace_gives_arrivals_and_kinds(tmp_path):
    """Through its importer, as any trace."""
    # of a Philly window, a minute apart
    rows = [f"2017-10-01 {i // 60:02}:{i % 60:02}:00,600,1,600,a" for i in range(120)]
    (tmp_path / "trace.csv").write_text("\n".join(["timestamp,duration,num_gpus,gpu_time,cluster", *rows]) + "\n")
    table = run("pd_ors_fig12", Options(seeds=1, arrivals=arrivals_of(tmp_path / "trace.csv")), servers=(10,))
    assert table.columns == ("servers", "PD-ORS", "OASiS", "FIFO", "DRF", "RRH", "Dorm")
    assert table.rows[0][1] > 0


def test_an_unknown_experiment_is_answered_with_those_that_exist(capsys):
    with pytest.raises(SystemExit, match="2"):
        call_command("reproduce", only=["oasis_fig99"])
    assert re.match(
        r"reproduce: unknown experiment 'oasis_fig99'; known: .*oasis_fig03_utility_by_jobs, oasis_fig04_lateness",
        capsys.readouterr().err,
    )


def test_a_share_is_stated_in_percent():
    figure = Figure("utilization", 0.8784, "share", 0.9, at_least=True)
    assert (in_words(figure.value, figure.unit), figure.target) == (("87.8", "%"), ">= 90 %")
    assert in_words(1_234.5, "h") == ("1,234", "h")
