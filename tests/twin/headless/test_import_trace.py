"""import_trace: what its options change, and what it says."""

import json

import pytest

from tests.twin.builders import run
from tests.twin.headless.builders import simulated

SACCT = """JobID|Submit|Start|End|State|AllocTRES
1|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:10:00|COMPLETED|cpu=8,gres/gpu=2,node=1
2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:10:00|COMPLETED|cpu=4,node=1
"""
CSV = "sent,took,cards\n3/4/2026 10:00,00:10:00,2\n4/4/2026 10:00,600,1\n"
TIMES = "job_id,num_gpu,submit_time,iterations,model_name,duration\n" + "".join(
    f"{n},1,{n},10,vgg16,0.5\n" for n in range(30)
)


def imported(tmp_path, text, *options):
    """(exit code, lines, refusal, report)"""
    (tmp_path / "x.csv").write_text(text)
    out = tmp_path / "out"
    code, lines, wrong = run("import_trace", tmp_path / "x.csv", "--seed", 1, "--out", out, *options)
    return code, lines, wrong, json.loads((out / "report.json").read_bytes()) if code == 0 else None


@pytest.mark.parametrize(("options", "jobs"), [((), 1), (("--cpu-jobs", "keep"), 2), (("--cpu-jobs", "skip"), 1)])
def test_jobs_without_gpus_can_be_kept(tmp_path, options, jobs):
    assert imported(tmp_path, SACCT, *options)[3]["jobs"] == jobs


def test_an_implausible_unit_is_a_warning_and_can_be_changed(tmp_path):
    code, lines, _, report = imported(tmp_path, TIMES)
    assert (code, report["warnings"]) == (
        0,
        ["The median run time is 500 ms, shorter than 1 s. Check the unit of the times."],
    )
    assert lines[-1] == f"warning: {report['warnings'][0]}"
    assert imported(tmp_path, TIMES, "--time-unit", "min")[3]["warnings"] == []


def test_a_mapping_is_read_from_its_file_and_changed_by_an_option(tmp_path):
    saved = tmp_path / "mapping.json"
    saved.write_text(json.dumps({"columns": ["sent"], "mapping": {"arrival": "sent", "run": "took"}}))
    code, _, wrong, _ = imported(tmp_path, CSV, "--mapping", saved)
    assert (code, wrong) == (
        2,
        [
            "import_trace: x.csv: dates such as '3/4/2026 10:00' can be read in two ways; map date_order=day or "
            "date_order=month"
        ],
    )
    report = imported(tmp_path, CSV, "--mapping", saved, "--map", "date_order=day", "--map", "gpus=cards")[3]
    assert report["jobs"] == 2
    jobs = [json.loads(line) for line in (tmp_path / "out" / "jobs.jsonl").read_text().splitlines()]
    assert [(job["arrival_ms"], job["requested_workers"]) for job in jobs] == [(0, 2), (86_400_000, 1)]
    saved.write_text("[1]")
    assert "a file of a column mapping has the form" in imported(tmp_path, CSV, "--mapping", saved)[2][0]


def test_an_unknown_file_is_refused_with_the_option_that_would_help(tmp_path):
    refusal = imported(tmp_path, CSV)[2][0]
    assert "map them: --map arrival=COLUMN --map run=COLUMN (columns: sent, took, cards)" in refusal
    assert (
        "time_zone must be a name such as Europe/Berlin, got 'X'" in imported(tmp_path, CSV, "--time-zone", "X")[2][0]
    )


def test_simulate_states_the_jobs_that_do_not_finish(inputs, tmp_path):
    """Within one slot none of the jobs ends."""
    _, lines, _ = simulated(inputs, tmp_path / "out", "fifo", "--horizon-slots", 1)
    metrics = json.loads((tmp_path / "out" / "summary.json").read_bytes())["metrics"]
    left = metrics["jobs"] - metrics["completed"] - metrics["rejected"]
    assert left > 0
    assert f"{metrics['rejected']} rejected, {left} unfinished" in lines[-1]
