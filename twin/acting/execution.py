"""Execution of plans: one change first, then the rest; each compared before it is made, journaled, and verified.

Every entry is stored as `sending` before the cluster is called. Whatever happens afterwards, the job itself shows
whether the change was made: an entry is undone only while the job has the value that the entry set.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from django.conf import settings

from twin.acting import gates, rules
from twin.acting.journal import Journal, Superseded, change_of
from twin.acting.plan import ORDER, lease_end, ranking
from twin.actuators.base import Actuator
from twin.actuators.facts import NOT_BEFORE, TITLES, ActuatorError, Change, Value, WaitingJob, shown
from twin.models import ActingRule, JournalEntry, Proposal

VERIFY_POLLS = 2
POLL_S = 1.0
SLOW_FACTOR, SLOW_MS = 2.0, 500.0  # a plan is undone when calls take this much longer than before it, and this long
LAST_CALLS = 3
NOT_WAITING = "The job no longer waits."
MAX_DELAY_S = 5.0  # between the entry of the journal and the call: a process that was stopped meanwhile does not call


class Stopped(RuntimeError):
    """A plan that must not go on, with the reason; its changes are undone."""


class Execution:
    """Execution of plans of one connection. wait: seconds to wait between two polls, interrupted by a stop signal."""

    def __init__(self, actuator: Actuator, journal: Journal, rule: Callable[[], ActingRule],
                 wait: Callable[[float], object]) -> None:  # fmt: skip
        self.actuator, self.journal, self.rule, self.wait = actuator, journal, rule, wait
        self.calls_ms: list[float] = []  # of the newest calls that change a job

    def carry_out(self, proposal: Proposal) -> None:
        """An approved plan: refused, applied, or undone."""
        before_ms = time.monotonic()
        why = gates.why_not(proposal, self.rule()) or self._why_outdated(proposal)
        if why:
            self.journal.status(proposal, Proposal.REFUSED, f"Not started: {why}.")
            return
        calm_ms = (time.monotonic() - before_ms) * 1_000
        entries = self.journal.begin(proposal)
        self.calls_ms = []
        try:
            for part in (entries[:1], entries[1:]):
                for entry in part:
                    self._check(proposal, calm_ms)
                    self._make(entry)
                self._verify(part)
            self._verify_order(proposal)
        except (ActuatorError, Stopped) as error:
            self.take_back(proposal, str(error))
            return
        if entries:
            self.journal.status(proposal, Proposal.APPLIED)

    def hold(self, proposal: Proposal) -> None:
        """A plan that is applied: renews its begin times, and ends it when none of its jobs waits any more."""
        rule = self.rule()
        if proposal.undo_wanted:
            self.take_back(proposal, "an operator requested it")
            return
        if why := rules.why_stopped(rule) or _why_beyond(proposal, rule):
            self.take_back(proposal, why)
            return
        entries = list(proposal.entries.filter(state__in=JournalEntry.MADE))
        waiting = self.actuator.waiting([entry.key for entry in entries]) if entries else {}
        stale = gates.why_stale(proposal.connection)
        for entry in entries:
            self._hold_one(entry, _same(waiting.get(entry.key), entry), stale)
        if not proposal.entries.filter(state__in=JournalEntry.MADE).exists():
            self.journal.status(proposal, Proposal.ENDED)

    def take_back(self, proposal: Proposal, why: str) -> bool:
        """Undo of the plan's changes, the newest first; False if the cluster refuses it for now."""
        self.journal.status(proposal, Proposal.UNDOING, f"Undo: {why}.")
        for entry in proposal.entries.filter(state__in=JournalEntry.MADE).order_by("-number"):
            try:
                self._take_back_one(entry)
            except ActuatorError as error:
                self.journal.write(entry, JournalEntry.UNDOING, str(error))
                return False
        unmade = proposal.entries.filter(state=JournalEntry.PLANNED)
        unmade.update(state=JournalEntry.SKIPPED, message="The plan ended before this change.")
        self.journal.status(proposal, Proposal.UNDONE)
        return True

    def _check(self, proposal: Proposal, calm_ms: float) -> None:
        """Check that the plan may continue; Stopped otherwise."""
        rule = self.rule()
        proposal.refresh_from_db(fields=["undo_wanted"])
        why = "an operator requested it" if proposal.undo_wanted else rules.why_stopped(rule)
        why = why or _why_beyond(proposal, rule)
        if not why and len(self.calls_ms) >= LAST_CALLS:
            now_ms = median(self.calls_ms[-LAST_CALLS:])
            if now_ms > max(SLOW_MS, SLOW_FACTOR * calm_ms):
                why = (
                    f"calls took {now_ms:,.0f} ms (median of {LAST_CALLS}), compared with {calm_ms:,.0f} ms before the "
                    "plan: the controller is overloaded"
                )
        if why:
            raise Stopped(why)

    def _why_outdated(self, proposal: Proposal) -> str:
        """Reason why the plan no longer fits the queue: its jobs wait in another order than when it was made."""
        if proposal.kind != ORDER:
            return ""
        order = proposal.plan["order"]
        try:
            waiting = self.actuator.waiting(order)
        except ActuatorError as error:
            return str(error)
        planned = [key for key in order if key in waiting]
        now = ranking([waiting[key] for key in planned])
        pair = next(((a, b) for a, b in zip(now, planned, strict=True) if a != b), None)
        if pair is None:
            return ""
        return f"job {pair[0]} is now ahead of job {pair[1]}, unlike when the plan was made; make a new plan"

    def _make(self, entry: JournalEntry) -> None:
        """One change, unless the job has changed since the plan was made."""
        job = _same(self.actuator.waiting([entry.key]).get(entry.key), entry)
        why = _why_changed(job, entry, self.rule())
        if why:
            self.journal.write(entry, JournalEntry.SKIPPED, why)
            return
        try:
            self._call(entry, JournalEntry.SENDING, change_of(entry))
        except ActuatorError:
            if _same(self.actuator.waiting([entry.key]).get(entry.key), entry) is not None:
                raise
            self.journal.write(entry, JournalEntry.SKIPPED, NOT_WAITING)  # it has started since it was read
            return
        self.journal.write(entry, JournalEntry.SENT)

    def _call(self, entry: JournalEntry, state: str, change: Change, **values: Value) -> None:
        """The entry of the journal, then the call."""
        began = time.monotonic()
        self.journal.write(entry, state, values=values)
        if time.monotonic() - began > MAX_DELAY_S:
            raise Superseded(f"more than {MAX_DELAY_S:g} s passed between the entry in the journal and the call")
        began = time.monotonic()
        self.actuator.apply(change)
        self.calls_ms.append((time.monotonic() - began) * 1_000)

    def _verify(self, entries: Sequence[JournalEntry]) -> None:
        """Check that the changes that were sent are seen within VERIFY_POLLS polls; Stopped otherwise."""
        for poll in range(VERIFY_POLLS):
            if poll:
                self.wait(POLL_S)
            missing = self._unseen(entry for entry in entries if entry.state == JournalEntry.SENT)
            if not missing:
                return
        entry, value = missing[0]
        was, goal = (shown(entry.field, one) for one in (value, entry.after))
        raise Stopped(f"job {entry.key} has {TITLES[entry.field]} {was} instead of {goal}")

    def _verify_order(self, proposal: Proposal) -> None:
        """Check that the jobs of an order wait as planned within VERIFY_POLLS polls; Stopped otherwise."""
        if proposal.kind != ORDER:
            return
        changed = set(proposal.entries.filter(state=JournalEntry.VERIFIED).values_list("key", flat=True))
        skipped = set(proposal.entries.filter(state=JournalEntry.SKIPPED).values_list("key", flat=True))
        goal = [key for key in proposal.plan["goal"] if key not in skipped]
        for poll in range(VERIFY_POLLS if changed else 0):
            if poll:
                self.wait(POLL_S)
            waiting = self.actuator.waiting(goal)
            wanted = [key for key in goal if key in waiting]
            found = list(ranking([waiting[key] for key in wanted]))
            if found == wanted:
                return
        if changed:
            a, b = next((a, b) for a, b in zip(found, wanted, strict=True) if a != b)
            raise Stopped(f"job {a} is still ahead of job {b} in the queue")

    def _unseen(self, entries: Iterable[JournalEntry]) -> list[tuple[JournalEntry, Value]]:
        sent = list(entries)
        waiting = self.actuator.waiting([entry.key for entry in sent]) if sent else {}
        missing: list[tuple[JournalEntry, Value]] = []
        for entry in sent:
            job = _same(waiting.get(entry.key), entry)
            if job is None:
                self.journal.write(entry, JournalEntry.ENDED, NOT_WAITING)
            elif _has(job, entry):
                self.journal.write(entry, JournalEntry.VERIFIED)
            else:
                missing.append((entry, job.value(entry.field)))
        return missing

    def _hold_one(self, entry: JournalEntry, job: WaitingJob | None, stale: str) -> None:
        now_ms = time.time_ns() // 1_000_000 + self.actuator.clock_offset_ms
        if job is None:
            self.journal.write(entry, JournalEntry.ENDED, NOT_WAITING)
        elif entry.field == NOT_BEFORE and (entry.until_ms or 0) <= now_ms:
            self.journal.write(entry, JournalEntry.ENDED, "The begin time has passed.")
        elif not _has(job, entry):
            expired = entry.field == NOT_BEFORE and job.not_before_ms is None
            why = "The begin time has expired." if expired else _overwritten(job, entry)
            self.journal.write(entry, JournalEntry.ENDED if expired else JournalEntry.LEFT, why)
        elif entry.field == NOT_BEFORE and not stale:
            self._renew(entry, now_ms)

    def _renew(self, entry: JournalEntry, now_ms: int) -> None:
        assert isinstance(entry.after, int)
        assert entry.until_ms is not None
        lease_ms = settings.ACTING_LEASE_S * 1_000
        longer_ms = lease_end(entry.until_ms, now_ms, lease_ms)
        if entry.after - now_ms > lease_ms * 2 // 3 or longer_ms <= entry.after:
            return
        change = Change(entry.key, entry.submitted_ms, entry.field, entry.after, longer_ms)
        self._call(entry, JournalEntry.SENDING, change, previous=entry.after, after=longer_ms)
        self.journal.write(entry, JournalEntry.SENT)
        self._unseen([entry])  # one that somebody else has changed meanwhile is left by the next poll

    def _take_back_one(self, entry: JournalEntry) -> None:
        job = _same(self.actuator.waiting([entry.key]).get(entry.key), entry)
        if job is None:
            self.journal.write(entry, JournalEntry.ENDED, "The job no longer waits: there is nothing to undo.")
        elif job.value(entry.field) == entry.before:
            self.journal.write(entry, JournalEntry.UNDONE, "The job has its former value.")
        elif not _has(job, entry):
            self.journal.write(entry, JournalEntry.LEFT, _overwritten(job, entry))
        else:
            self._call(entry, JournalEntry.UNDOING, change_of(entry).inverse())
            after = _same(self.actuator.waiting([entry.key]).get(entry.key), entry)
            if after is not None and after.value(entry.field) != entry.before:
                raise ActuatorError(f"job {entry.key} still has {_now(after, entry)}")
            self.journal.write(entry, JournalEntry.UNDONE)


def _same(job: WaitingJob | None, entry: JournalEntry) -> WaitingJob | None:
    """The job if it is the one of the entry: a key may be used again."""
    return job if job is not None and job.submitted_ms == entry.submitted_ms else None


def _has(job: WaitingJob, entry: JournalEntry) -> bool:
    """True if the job has the value that the entry gave it, or, while a begin time is renewed, the one before."""
    value = job.value(entry.field)
    return value == entry.after or (entry.previous is not None and value == entry.previous)


def _now(job: WaitingJob, entry: JournalEntry) -> str:
    """'nice 100': the field that the entry changes, and its present value."""
    return f"{TITLES[entry.field]} {shown(entry.field, job.value(entry.field))}"


def _overwritten(job: WaitingJob, entry: JournalEntry) -> str:
    return f"Somebody has set {TITLES[entry.field]} to {shown(entry.field, job.value(entry.field))}."


def _why_changed(job: WaitingJob | None, entry: JournalEntry, rule: ActingRule) -> str:
    """Reason why the job is not as it was when the plan was made; "" if it is."""
    if job is None:
        return NOT_WAITING
    if job.value(entry.field) != entry.before:
        return f"The job has {_now(job, entry)}; the plan expects {shown(entry.field, entry.before)}."
    if job.held:
        return "The job is held now."
    if rule.queues and job.queue not in rule.queues:
        return f"Its queue {job.queue} is not allowed."
    if rule.accounts and job.account not in rule.accounts:
        return f"Its account {job.account} is not allowed."
    return ""


def _why_beyond(proposal: Proposal, rule: ActingRule) -> str:
    needed = gates.level_needed(proposal.kind)
    return "" if rule.level >= needed else f"the permission level is now {rule.level}, but must be at least {needed}"
