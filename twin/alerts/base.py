"""The rule of an alert: thresholds, a check of what is seen of a target, and a sentence for each finding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from scheduling.kernel.parameters import Parameters
from scheduling.reporting.quantities import counted
from twin.alerts import rules
from twin.analysis.situation import Situation
from twin.infra.menu import Menu
from twin.models.alerts import LEVELS, NOTABLE, SERIOUS
from twin.moments import moment_utc, run_moment

__all__ = ["BATCH", "CLUSTER", "LEVELS", "MORE", "NOTABLE", "RUN", "SERIOUS", "Finding", "Rule", "Seen",
           "because", "build", "names", "newest", "rule_class", "sentence", "since"]  # fmt: skip

# what rules are about: a live cluster, a live run, a run that computes as fast as it can
CLUSTER, RUN, BATCH = "cluster", "run", "batch"
MORE = "more"  # code of the findings beyond those that are kept


class Finding(NamedTuple):
    """Finding of a rule about a target.

    values: plain; they change only with the facts, not with every moment, because each change is stored.
    subject: what tells the findings of one rule about one target apart; "" where there is one at most.
    """

    code: str
    values: dict[str, Any]
    subject: str = ""


class Data(NamedTuple):
    """Data of a live cluster. state: as in mirror.connecting.condition; age_s: None while there are none."""

    state: str
    age_s: float | None
    seen_at: float | None  # Unix s
    message: str


class Seen(Protocol):
    """State of a target at one moment, as rules see it; twin/alerts/seeing.py reads a part when a rule asks for it."""

    @property
    def now(self) -> float:
        """Unix s."""

    @property
    def now_ms(self) -> int:
        """The same in ms of the run's log."""

    @property
    def situation(self) -> Situation | None:
        """Jobs and servers of the run now; None where the run has no event yet."""

    @property
    def data(self) -> Data:
        """Age of the data of a live cluster."""

    @property
    def samples(self) -> dict[str, Any]:
        """mirror.sampling.SamplesHealth of a live cluster as plain data; {} without a sampler."""

    @property
    def forecasts(self) -> dict[str, Any]:
        """{made_at: Unix s or None, coverage, calibration} of a live cluster; {} before the first forecast."""

    @property
    def drift(self) -> dict[str, Any]:
        """Newest audit of the log of a live cluster (mirror/drift_task.py); {} before the first one."""

    @property
    def activity(self) -> dict[str, Any] | None:
        """Activity of a run that does not progress normally (runs/activity.py)."""


class Rule(ABC):
    """Check of one fact about one target against its thresholds."""

    name: ClassVar[str]  # that of its file
    title: ClassVar[str]  # as printed on screen
    summary: ClassVar[str]  # one sentence: when it alerts
    level: ClassVar[str] = NOTABLE  # unless an operator chooses another one
    about: ClassVar[tuple[str, ...]] = (CLUSTER, RUN)
    page: ClassVar[str] = ""  # page of a live cluster that shows more: fidelity, shadows, plans
    Parameters: ClassVar[type] = Parameters

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()

    @abstractmethod
    def check(self, seen: Seen) -> Sequence[Finding]:
        """Findings at this moment, the most important first."""

    @classmethod
    @abstractmethod
    def sentence(cls, code: str, values: dict[str, Any]) -> str:
        """A finding in words, without a full stop."""


MENU: Menu[Rule] = Menu("alert rule", rules, Rule)
names, rule_class, build = MENU.names, MENU.named, MENU.build


def since(values: Mapping[str, Any]) -> str:
    """The time `since_ms` of a finding to the second: of a live cluster in UTC, of a run as on its page."""
    return run_moment(values["since_ms"], values.get("epoch_ms"), whole=True)


def newest(subject: str, seen_at: float, message: str = "") -> str:
    """The sentence about what is old; seen_at: Unix s; message: why, if that is known."""
    return f"The newest {subject} from {moment_utc(round(seen_at * 1_000))}{because(message)}"


def because(message: str) -> str:
    """The end of a sentence that a message explains; a message that is a sentence follows it."""
    if not message:
        return ""
    return f"{'.' if message[0].isupper() else ':'} {message.rstrip('.')}"


def sentence(rule: str, code: str, values: dict[str, Any]) -> str:
    """A finding in words; its code where this version has no such rule."""
    if code == MORE:
        return f"{counted(values['findings'], 'more finding')} of this rule"
    return rule_class(rule).sentence(code, values) if rule in names() else code.replace("_", " ")
