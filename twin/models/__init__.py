"""Database models, one file per subject."""

from twin.models.acting import ActingRule, JournalEntry, Proposal
from twin.models.alerts import Alert, AlertNotice, AlertRule, AlertWork
from twin.models.audit import AuditEntry
from twin.models.forecasts import Forecast, Forecasting, Score
from twin.models.inputs import ClusterSpec, Scenario, Trace
from twin.models.leases import TaskLease
from twin.models.live import Connection, MirrorRecord
from twin.models.log import Checkpoint, EventBatch, FoldedState
from twin.models.push import PushedEvent, PushSnapshot, PushSource
from twin.models.reproductions import Reproduction, ReproductionPart
from twin.models.runs import Run, Sweep, SweepPoint
from twin.models.shadows import Shadow, ShadowSet
from twin.models.teams import Membership, Owned, Team, home_of

__all__ = [
    "ActingRule",
    "Alert",
    "AlertNotice",
    "AlertRule",
    "AlertWork",
    "AuditEntry",
    "Checkpoint",
    "ClusterSpec",
    "Connection",
    "EventBatch",
    "FoldedState",
    "Forecast",
    "Forecasting",
    "JournalEntry",
    "Membership",
    "MirrorRecord",
    "Owned",
    "Proposal",
    "PushSnapshot",
    "PushSource",
    "PushedEvent",
    "Reproduction",
    "ReproductionPart",
    "Run",
    "Scenario",
    "Score",
    "Shadow",
    "ShadowSet",
    "Sweep",
    "SweepPoint",
    "TaskLease",
    "Team",
    "Trace",
    "home_of",
]
