"""Limits that the docs state as numbers: each is that of the code."""

from pathlib import Path

import pytest
from django.conf import settings

from dashboard.readmodels import counterfactuals
from scheduling.forecast import bands, scoring
from scheduling.slotted import certificate
from twin.acting import gates
from twin.alerts import evaluation
from twin.analysis import thumbnail
from twin.mirror import health
from twin.mirror.connecting import trial, trial_process
from twin.mirror.forecasts import forecast_task
from twin.mirror.whatif import jobs as cut_jobs
from twin.operation import growth
from twin.processes import intake
from twin.push import bodies, events, storage
from twin.runs import lease
from twin.studies import demo
from twin.studies.experiments import task as experiment_task
from twin.studies.shadows import in_step, replays, sets
from twin.traces import synthesis
from twin.traces.importers import native_jsonl
from twin.traces.uploads import openfile

DOCS = Path(__file__).parents[1] / "docs"
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
DAY_MS, HOUR_MS = 86_400_000, 3_600_000
STATED = [
    ("traces.md", f"at most {settings.UPLOAD_LIMIT_BYTES // 2**20} MiB"),
    ("traces.md", f"at most {openfile.MAX_BYTES // 2**30} GiB, {openfile.MAX_RATIO} times the size of the upload"),
    ("traces.md", f"{synthesis.MAX_JOBS:,} jobs ({native_jsonl.MAX_JOBS:,} as jobs.jsonl)"),
    ("traces.md", f"{openfile.MAX_FILES:,} files"),
    ("architecture.md", f"A slice holds a lease of {lease.LEASE.seconds} s"),
    ("architecture.md", f"`HUNG_S` ({settings.HUNG_S:g} s)"),
    ("architecture.md", f"wait for {intake.STALLED_S:g} s while processes of its pool are idle"),
    ("architecture.md", f"`CERTIFICATE_LIMIT_S` ({settings.CERTIFICATE_LIMIT_S:g} s)"),
    ("architecture.md", f"Beyond {certificate.MAX_LP_JOBS:,} jobs the prices come from a sample"),
    ("architecture.md", f"The search takes at most {counterfactuals.SECONDS:g} s"),
    ("architecture.md", f"at most {thumbnail.MAX_ROWS} groups of servers by {thumbnail.COLUMNS} intervals"),
    ("following.md", f"limits of {trial.MAX_S:g} s and {trial_process.MAX_MEMORY // 2**30} GiB"),
    ("following.md", f"of the newest {health.MAX_LAGS:,}"),
    ("following.md", f"`hours` (default {sets.DEFAULT_MS // HOUR_MS}, at most {sets.MAX_MS // HOUR_MS})"),
    ("forecasting.md", f"at most once every {forecast_task.EVERY_S:g} s"),
    ("forecasting.md", f"the {bands.NEAREST} forecasts, among the last {bands.LAST} scored ones"),
    ("forecasting.md", f"*learning* below {scoring.MIN_SCORED} scored forecasts"),
    ("forecasting.md", f"if its interval is at least {replays.MIN_INTERVAL_MS // 1_000} s"),
    ("forecasting.md", f"windows of up to {in_step.MAX_JOBS:,} jobs"),
    ("acting.md", f"`ACTING_LEASE_S` ({settings.ACTING_LEASE_S} s)"),
    ("acting.md", f"the plan is older than {gates.MAX_AGE_S / 60:g} minutes"),
    ("push.md", f"at most {bodies.MAX_EVENTS:,} events"),
    ("push.md", f"at most {events.MAX_AHEAD_MS // 60_000} minutes ahead of the server"),
    ("push.md", f"changes nothing, for {storage.KEPT_MS // DAY_MS} days"),
    ("operation.md", f"more than {growth.MAX_OPERATORS} accounts"),
    ("operation.md", f"a write takes more than {growth.MAX_WAIT_S:g} s"),
    ("operation.md", f"alerts are kept for {evaluation.KEPT_DAYS} days"),
    ("operation.md", f"of the demo, {WORDS[demo.MAX_KEPT]} ended runs"),
    ("operation.md", f"The {WORDS[experiment_task.MAX_KEPT]} newest results of each experiment are kept"),
    ("decisions/0015-a-fork-of-a-mirror-is-a-cut.md", f"would take more than {cut_jobs.MAX_SLOTS:,} slots"),
]


@pytest.mark.parametrize(("page", "sentence"), STATED)
def test_a_stated_limit_is_that_of_the_code(page, sentence):
    assert sentence in " ".join((DOCS / page).read_text().split())
