"""Rules by values: what each finds, from which threshold on, and what it says."""

from __future__ import annotations

import math
from types import CodeType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.kernel.parameters import describe
from scheduling.kernel.registry import schedulers
from scheduling.model.values import ModelError
from scheduling.reporting.reasons import SENTENCES
from scheduling.slotted.pricing.prices import price
from tests.twin.alerts.builders import HOUR, seen, situation
from twin.alerts.base import BATCH, CLUSTER, LEVELS, RUN, Data, build, names, rule_class, sentence
from twin.alerts.rules.rejections import REASONS

DAY = 24 * HOUR


def said(rule: str, given: dict | None = None, **changes) -> list[str]:
    """Sentences of what the rule finds."""
    return [sentence(rule, finding.code, finding.values) for finding in build(rule, given or {}).check(seen(**changes))]


@pytest.mark.parametrize("name", names())
def test_a_rule_says_what_it_is_about_and_finds_nothing_where_nothing_is_wrong(name):
    rule = rule_class(name)
    assert rule.name == name
    assert rule.level in LEVELS
    assert set(rule.about) <= {CLUSTER, RUN, BATCH}
    assert rule.about
    assert rule.summary.endswith(".")
    declared = describe(rule.Parameters)
    assert declared
    assert all(row["low"] is not None and row["high"] is not None and row["help"] for row in declared)
    assert said(name) == []
    assert said(name, situation=None) == []


def test_each_server_that_is_away_for_long_enough_is_a_finding():
    away = [
        {"server": 3, "name": "w03", "site": "edge", "since_ms": 11 * HOUR + 630},
        {"server": 5, "name": "w05", "site": "cloud", "since_ms": 12 * HOUR - 59_000},
    ]
    found = build("server_unavailable", {}).check(seen(situation=situation(away=away)))
    assert [(one.subject, one.values["server"]) for one in found] == [("w03", 3), ("w05", 5)]
    assert said("server_unavailable", {"away_s": 60}, situation=situation(away=away)) == [
        "Server w03 (edge) has been unavailable since 11:00:00"
    ]


@pytest.mark.parametrize(
    ("waiting", "given", "expected"),
    [
        ([0, 2, 4, 9], {}, ["The number of waiting jobs has grown from 4 to 9 within 4h"]),
        ([0, 0, 7, 5], {}, []),  # it shrinks
        ([0, 2, 3, 5], {}, []),  # less than twice
        ([0, 2, 2, 5], {}, ["The number of waiting jobs has grown from 2 to 5 within 4h"]),
        ([0, 2, 2, 4], {}, []),  # too short
        ([0, 2, 2, 4], {"waiting": 4}, ["The number of waiting jobs has grown from 2 to 4 within 4h"]),
        ([0, 2, 3, 5], {"factor": 1.5}, ["The number of waiting jobs has grown from 3 to 5 within 4h"]),
        ([9, 9, 9, 9], {"factor": 1}, []),  # it stays
    ],
)
def test_a_queue_grows_when_it_is_at_its_longest(waiting, given, expected):
    queue = {"curve": {"waiting": waiting, "at_ms": [0, 4 * HOUR, 8 * HOUR, 12 * HOUR]}, "oldest": []}
    assert said("queue_grows", given, situation=situation(queue=queue)) == expected


@pytest.mark.parametrize(
    ("waiting", "seen_from_ms", "expected"),
    [
        ([0, 0, 0, 0, 9, 9], 0, ["The number of waiting jobs has grown from 0 to 9 within 2h"]),
        ([0, 0, 0, 0, 9, 9], 3 * HOUR + 1, []),
        ([0, 0, 0, 3, 4, 9], 4 * HOUR, ["The number of waiting jobs has grown from 4 to 9 within 1h"]),
        ([0, 0, 0, 3, 4, 9], 9 * HOUR, []),
    ],
)
def test_a_queue_is_not_compared_with_a_time_before_the_cluster_was_seen(waiting, seen_from_ms, expected):
    """Of jobs that started before the first poll nothing is known, so the queue seems to have been short."""
    queue = {"curve": {"waiting": waiting, "at_ms": [n * HOUR for n in range(6)]}, "oldest": []}
    shown = situation(queue=queue, window_ms=5 * HOUR, seen_from_ms=seen_from_ms)
    assert said("queue_grows", situation=shown) == expected


def test_jobs_that_wait_for_too_long_are_counted_and_the_first_is_named():
    queue = {"curve": {}, "oldest": [{"job": 7, "id": "j7", "since_ms": HOUR}]}
    shown = situation(queue=queue, waiting_since=np.array([HOUR, 2 * HOUR, 30 * HOUR]))
    assert said("waiting_long", situation=shown, now_ms=25 * HOUR) == []
    assert said("waiting_long", situation=shown, now_ms=25 * HOUR + 1) == [
        "A job has waited for more than 1d: j7, submitted at 01:00:00"
    ]
    assert said("waiting_long", {"hours": 2}, situation=shown, now_ms=30 * HOUR) == [
        "2 jobs have waited for more than 2h; the first is j7, submitted at 01:00:00"
    ]


def test_jobs_that_are_suspended_for_too_long():
    shown = situation(suspended=np.array([[HOUR, 4], [9 * HOUR, 2]]), suspended_id="j4")
    assert said("suspended_long", situation=shown) == ["A job has been suspended for more than 4h: j4, since 01:00:00"]
    assert said("suspended_long", {"hours": 3}, situation=shown, now_ms=13 * HOUR) == [
        "2 jobs have been suspended for more than 3h; the first is j4, since 01:00:00"
    ]
    assert said("suspended_long", {"hours": 12}, situation=shown) == []


def test_rejected_jobs_of_the_window_with_their_reasons():
    reasons = [{"code": "too_late", "jobs": 9}, {"code": "strange_code", "jobs": 2}]
    shown = situation(rejected={"total": 30, "recent": 11, "reasons": reasons})
    assert said("rejections", situation=shown) == [
        "11 jobs rejected in 12h: 9 too late for the horizon, 2 for the reason “strange code”"
    ]
    assert said("rejections", {"jobs": 12}, situation=shown) == []


def test_every_rejection_that_a_scheduler_declares_has_a_short_text():
    declared = {code: own.by_code[code] for code, own in SENTENCES.items()}
    declared |= {code: text for scheduler in schedulers().values() for code, text in scheduler.reasons.items()}
    codes = {code for code, text in declared.items() if _rejects(text.__code__)}
    assert {"payoff_not_positive", "no_worker_of_type", "replanning.hopeless", "slurm.exceeds_quota"} <= codes
    assert sorted(codes ^ set(REASONS)) == []


def _rejects(body: CodeType) -> bool:
    """True if the text of a sentence begins with “Rejected”."""
    return any(isinstance(part, str) and part.startswith("Rejected") for part in body.co_consts)


def test_a_price_is_at_its_ceiling_where_the_resource_is_allocated():
    shares = {"edge": [[0.2, 0.96, 0.97, 0.99], [1, 1, 0.5, 1]], "cloud": [[0.9] * 4, [None] * 4]}
    prices = {"edge": {"gpu": 38.3, "cpu": 1.5}, "cloud": {"gpu": 2.0}}
    shown = situation(site_shares=shares, prices=prices)
    assert said("price_ceiling", situation=shown) == [
        "The price of GPU at the edge has been at its ceiling since 04:00:00; it is 38.3"
    ]
    assert said("price_ceiling", {"minutes": 8 * 60}, situation=shown) != []
    assert said("price_ceiling", {"minutes": 9 * 60}, situation=shown) == []
    found = build("price_ceiling", {"minutes": 0, "percent": 90}).check(seen(situation=shown))
    assert [one.subject for one in found] == ["gpu at edge", "cpu at edge", "gpu at cloud"]
    assert said("price_ceiling", situation=situation(site_shares=shares, prices=None)) == []


@given(st.integers(1, 64), st.integers(0, 64), st.floats(1e-3, 10), st.floats(2.8, 1e6))
def test_the_way_of_a_price_to_its_ceiling_is_the_share_that_is_allocated(capacity, used, floor, ratio):
    """What the rule rests on: log(p / L) / log(U / L) is allocated / capacity."""
    used = min(used, capacity)
    found = float(price(np.array([used]), np.array([capacity]), floor, floor * ratio)[0])
    assert math.log(found / floor) / math.log(ratio) == pytest.approx(used / capacity, abs=1e-9)


def test_data_are_old_by_their_age():
    def data(state: str, age_s: float | None, seen_at: float | None = 940_000.0) -> Data:
        return Data(state, age_s, seen_at, "squeue does not answer.")

    assert said("data_old", data=data("failing", 61.0)) == [
        "The newest data are from 1970-01-11 21:06:40 UTC: squeue does not answer"
    ]
    assert said("data_old", data=data("following", 60.0)) == []
    assert said("data_old", {"seconds": 600}, data=data("failing", 61.0)) == []
    assert said("data_old", data=data("paused", None)) == []
    assert said("data_old", data=data("stale", 61.0, None)) == [
        "There are no data of the cluster yet: squeue does not answer"
    ]


def test_samples_are_old_while_the_sampler_fails():
    failing = {"state": "failing", "at": 999_000.0, "message": "no answer"}
    assert said("samples_old", samples=failing) == [
        "The newest samples are from 1970-01-12 13:30:00 UTC: no answer",
    ]
    assert said("samples_old", samples=failing | {"state": "sampling"}) == []
    assert said("samples_old", {"minutes": 17}, samples=failing) == []
    assert said("samples_old", samples={"state": "failing", "at": None, "since": 1.0, "message": ""}) == [
        "The sampler has never answered"
    ]


def test_forecasts_are_off_where_their_coverage_is_certainly_outside_or_they_are_old():
    coverage = {"count": 400, "share": 0.6, "low": 0.55, "high": 0.65}
    assert said("forecast_off", forecasts={"coverage": coverage, "made_at": 999_990.0}) == [
        "60 % of 400 starts were inside their 80 % band, expected 75 to 85 %"
    ]
    assert said("forecast_off", {"low_percent": 60}, forecasts={"coverage": coverage, "made_at": None}) == []
    assert said("forecast_off", forecasts={"coverage": coverage | {"count": 99}, "made_at": None}) == []
    old = {"coverage": {"count": 0}, "made_at": 999_000.0}
    assert said("forecast_off", forecasts=old) == ["The newest forecast is from 1970-01-12 13:30:00 UTC"]
    assert said("forecast_off", forecasts=old, data=Data("failing", 999.0, 1.0, "")) == []
    with pytest.raises(ModelError, match="parameter low_percent must be at most high_percent"):
        build("forecast_off", {"low_percent": 90})


def test_an_audit_that_found_differences_is_drift():
    drift = {"count": 3, "compared": 1_200, "differences": [{"subject": "job 5", "field": "state", "log": "a"}]}
    assert said("drift", drift=drift) == [
        "3 differences between the log and the cluster in 1,200 jobs and nodes; the first is the state of job 5"
    ]
    assert said("drift", {"differences": 4}, drift=drift) == []
    assert said("drift", drift=drift | {"count": 0}) == []


def test_a_run_is_stalled_after_a_while_and_not_while_it_is_pausing():
    for state, text in (("held", "The run waits: "), ("waiting", "The run waits for"), ("stalled", "The run makes no")):
        activity = {"state": state, "text": "", "seconds": 60.0}
        assert said("run_stalled", activity=activity)[0].startswith(text)
        assert said("run_stalled", {"seconds": 61}, activity=activity) == []
    assert said("run_stalled", activity={"state": "pausing", "text": "", "seconds": 99.0}) == []


def test_an_unknown_rule_still_has_words():
    assert sentence("of_another_version", "some_code", {}) == "some code"
    assert sentence("drift", "more", {"findings": 1_200}) == "1,200 more findings of this rule"
