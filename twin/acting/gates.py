"""Conditions under which a plan may be made, approved and carried out. Each states its reason with numbers."""

from __future__ import annotations

import time

from django.utils import timezone

from scheduling.forecast.scoring import CALIBRATED, LEARNING, MIN_SCORED
from scheduling.reporting.quantities import counted
from twin.acting import rules
from twin.acting.plan import ORDER
from twin.actuators import base as actuators
from twin.connectors.base import title_of
from twin.mirror.connecting.condition import FAILING, FOLLOWING, condition
from twin.models import ActingRule, Connection, Forecasting, Proposal

MAX_AGE_S = 300.0  # of a plan when it is approved: the queue has changed since


def why_no_plans(connection: Connection) -> str:
    """Reason why the connector does not support plans; "" if it does."""
    if connection.connector in actuators.names():
        return ""
    return (
        f"plans are not available for the connector {title_of(connection.connector)}; "
        f"available for: {', '.join(map(title_of, actuators.names()))}{actuators.MENU.notice()}"
    )


def why_no_proposal(connection: Connection, rule: ActingRule) -> str:
    """Reason why no plan can be made; "" if one can."""
    if why := why_no_plans(connection):
        return why
    if rule.level < rules.PROPOSE:
        return f"plans are off for {connection.name}; an approver can set its permission level to 1 (propose) or higher"
    if connection.run_id is None:
        return f"{connection.name} has not been polled yet; wait for its first poll"
    return ""


def why_not(proposal: Proposal, rule: ActingRule) -> str:
    """Reason why the plan may not be carried out; "" if it may. Asked at the approval and before the first call."""
    connection = proposal.connection
    needed = level_needed(proposal.kind)
    if rule.level < needed:
        has, needs = rules.LEVELS[rule.level].name, rules.LEVELS[needed].name
        return (
            f"the permission level of {connection.name} is {rule.level} ({has}); a plan of the kind {proposal.kind} "
            f"needs {needed} ({needs})"
        )
    return (
        rules.why_stopped(rule)
        or _why_no_actor(rule, connection)
        or why_stale(connection)
        or (_why_not_calibrated(connection) if rule.calibrated else "")
        or _why_too_old(proposal)
        or _why_too_many(proposal, rule)
    )


def level_needed(kind: str) -> int:
    """Level at which a plan of this kind may be carried out."""
    return rules.ORDER if kind == ORDER else rules.PLACE


def _why_no_actor(rule: ActingRule, connection: Connection) -> str:
    if not rules.actor_running(rule):
        return f"no acting process serves {connection.name}; start it with manage.py act {connection.name}"
    return str(rule.actor.get("error") or "")


def why_stale(connection: Connection) -> str:
    """Reason why the mirror of the cluster is not fresh; "" if it is."""
    found = condition(connection)
    if found.state == FOLLOWING:
        return ""
    state = "not answering" if found.state == FAILING else found.state
    age = "" if found.seen_at is None else f" (newest data {time.time() - found.seen_at:.0f} s old)"
    return f"{connection.name} is {state}{age}; a plan needs fresh data"


def _why_not_calibrated(connection: Connection) -> str:
    """Reason why forecasts of the cluster cannot be trusted, with the coverage."""
    kept = Forecasting.objects.filter(pk=connection.pk).only("figures").first()
    errors = kept.figures if kept is not None else {}
    state, coverage = errors.get("calibration", LEARNING), errors.get("coverage") or {"count": 0}
    if state == CALIBRATED:
        return ""
    if state == LEARNING:
        found = f"learning: {coverage['count']:,} of {MIN_SCORED:,} forecasts with a band are scored"
    else:
        share = f"{100 * coverage['share']:.0f} % of {coverage['count']:,} starts"
        found = f"not calibrated: {share} were inside their 80 % band"
    return (
        f"the forecasts of {connection.name} are {found}; a plan needs calibrated forecasts, unless an approver drops "
        "this condition"
    )


def _why_too_old(proposal: Proposal) -> str:
    assert proposal.planned_at is not None
    age_s = (timezone.now() - proposal.planned_at).total_seconds()
    why = f"the plan is {age_s:.0f} s old, more than the limit of {MAX_AGE_S:.0f} s; make a new plan"
    return why if age_s > MAX_AGE_S else ""


def _why_too_many(proposal: Proposal, rule: ActingRule) -> str:
    jobs = len({row["key"] for row in proposal.plan.get("rows", ())})
    why = f"the plan changes {counted(jobs, 'job')}, more than the limit of {rule.max_jobs:,}; make a new plan"
    return why if jobs > rule.max_jobs else ""
