"""`manage.py reproduce --processes`: a pool of processes gives what one process gives."""

import json
import os
import re

import pytest
from django.core.management import CommandError, call_command

from experiments import Options
from scheduling.model.values import ModelError
from twin.studies.experiments import pool

NAMES = ["oasis_fig07_testbed_utility", "pd_ors_fig12_trace_by_servers", "harmony_fig02_single_jobs"]


@pytest.mark.slow
def test_several_processes_give_the_bytes_of_one(capsys, tmp_path):
    found = {}
    for processes in (1, 2):
        file = tmp_path / f"{processes}.json"
        call_command("reproduce", only=NAMES, seeds=1, processes=processes, json=file)
        printed = re.sub(r"\d+ s of processor time", "", capsys.readouterr().out)
        tables = re.sub(rb'"seconds": [\d.]+', b"", file.read_bytes())
        found[processes] = printed, tables[tables.index(b'"experiments"') :]
    assert found[1] == found[2]
    assert "skipped: needs --arrivals FILE" in found[2][0]
    assert [one["id"] for one in json.loads((tmp_path / "2.json").read_text())["experiments"]] == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_each_part_is_reported_when_it_is_done(processes):
    said = []
    found = list(pool.outcomes(NAMES, Options(seeds=1), processes, lambda *report: said.append(report)))
    assert [done for done, _, _ in said] == list(range(1, len(said) + 1))
    assert {total for _, total, _ in said} == {len(said)}
    assert {part for _, _, part in said} >= {f"{NAMES[0]}: testbed: OASiS", f"{NAMES[0]}: testbed: Dorm"}
    assert [outcome.table is None for outcome in found] == [False, True, False]
    assert found[0].seconds > 0


def test_a_process_that_is_killed_is_answered_with_what_would_work():
    words = r"one of 2 processes was killed, .* use a smaller --processes"
    with pytest.raises(ModelError, match=words), pool._processes(2, Options()) as processes:
        processes.submit(os._exit, 1).result()


@pytest.mark.parametrize("given", ["0", "-1", "two"])
def test_a_number_of_processes_that_is_none_is_refused(given):
    with pytest.raises(CommandError, match=rf"--processes: must be an integer from 1 to 2\^53, got '{given}'"):
        call_command("reproduce", "--processes", given)
