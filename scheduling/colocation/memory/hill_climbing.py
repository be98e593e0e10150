"""Hill climbing of the share of data on disk (Harmony Section IV-C): one job, one step, judged after an epoch.

The jobs of a group take turns. A step that shortens the iteration by more than GAIN stays, and the job's next one
continues from there; otherwise it is undone, and the next one goes the other way; when neither way pays, the step is
halved. Models are moved only when all inputs are on disk and memory is short still. It ends when every job's step is
below MIN_STEP, or when nothing is left to gain.
"""

from __future__ import annotations

from typing import NamedTuple

from scheduling.colocation.memory.usage import GC_FROM, Data, GroupMachines, Ratios, beginning, pace_ms, usage

STEP, MIN_STEP = 0.1, 0.01
GAIN = 0.005  # relative, of the time of an iteration


class Setting(NamedTuple):
    """Group on its machines: ms of computation and communication of each job in an iteration, and its data."""

    comp_ms: list[float]
    comm_ms: list[float]
    data: list[Data]
    machines: GroupMachines

    def pace_ms(self, disk: list[float], model: list[float]) -> float:
        return pace_ms(self.comp_ms, self.comm_ms, self.data, self.machines, disk, model)

    def usage(self, disk: list[float], model: list[float]) -> float:
        return usage(self.data, self.machines, disk, model)

    @property
    def floor_ms(self) -> float:
        """Lower bound of an iteration by Eq. (1), whatever the ratios."""
        longest = max(c + n for c, n in zip(self.comp_ms, self.comm_ms, strict=True))
        return max(sum(self.comp_ms), sum(self.comm_ms), longest)


class Trial(NamedTuple):
    """Trial of a step, with the iteration time before it."""

    of_model: bool
    ratio: float
    pace_ms: float


class Climb(NamedTuple):
    """State of a climb. Lists are in the order of the jobs.

    steps   each job's next one; > 0: more on disk; below MIN_STEP it is at rest
    failed  ways in a row that did not pay
    turn    the job that was moved last, or whose step is on trial
    """

    disk: list[float]
    model: list[float]
    pace_ms: float
    steps: list[float]
    failed: list[int]
    turn: int
    trial: Trial | None
    done: bool


def begin(setting: Setting) -> Climb:
    """Climb that starts at the smallest equal ratio that avoids garbage collection."""
    disk, model = beginning(setting.data, setting.machines)
    size, now = len(disk), setting.pace_ms(disk, model)
    return Climb(disk, model, now, [-STEP] * size, [0] * size, -1, None, now <= setting.floor_ms * (1 + GAIN))


def advance(climb: Climb, setting: Setting) -> Climb:
    """End of an epoch: its trial is judged, and the next job in turn makes a step."""
    climb = _judged(climb)
    if climb.pace_ms <= setting.floor_ms * (1 + GAIN):
        return climb._replace(done=True)
    size = len(climb.disk)
    for turn in ((climb.turn + 1 + i) % size for i in range(size)):
        climb = climb._replace(turn=turn)
        while abs(climb.steps[turn]) >= MIN_STEP:
            tried = _tried(climb, setting)
            if tried is not None:
                return tried
            climb = _failed(climb)
    return climb._replace(done=True)


def adapted(comp_ms: list[float], comm_ms: list[float], data: list[Data], machines: GroupMachines) -> Ratios:
    """Final ratios, if the group stays together long enough."""
    setting = Setting(comp_ms, comm_ms, data, machines)
    climb = begin(setting)
    while not climb.done:
        climb = advance(climb, setting)
    return Ratios(climb.disk, climb.model, climb.pace_ms)


def _judged(climb: Climb) -> Climb:
    trial, turn = climb.trial, climb.turn
    if trial is None:
        return climb
    if climb.pace_ms < trial.pace_ms * (1 - GAIN):
        return climb._replace(trial=None, failed=_with(climb.failed, turn, 0))
    disk = climb.disk if trial.of_model else _with(climb.disk, turn, trial.ratio)
    model = _with(climb.model, turn, trial.ratio) if trial.of_model else climb.model
    return _failed(climb._replace(trial=None, pace_ms=trial.pace_ms, disk=disk, model=model))


def _failed(climb: Climb) -> Climb:
    """Climb in the opposite direction for the job in turn, with half the step if that failed before."""
    turn = climb.turn
    both = climb.failed[turn] + 1 == 2
    step = -climb.steps[turn] / (2 if both else 1)
    return climb._replace(steps=_with(climb.steps, turn, step), failed=_with(climb.failed, turn, 0 if both else 1))


def _tried(climb: Climb, setting: Setting) -> Climb | None:
    """Climb with the step of the current job; None if disk or memory is insufficient."""
    turn = climb.turn
    of_model = min(climb.disk) >= 1 and setting.usage(climb.disk, climb.model) > GC_FROM
    old = climb.model if of_model else climb.disk
    new = _with(old, turn, min(1.0, max(0.0, old[turn] + climb.steps[turn])))
    disk, model = (climb.disk, new) if of_model else (new, climb.model)
    if new[turn] == old[turn] or setting.usage(disk, model) > 1:
        return None
    trial = Trial(of_model, old[turn], climb.pace_ms)
    return climb._replace(disk=disk, model=model, pace_ms=setting.pace_ms(disk, model), trial=trial)


def _with(values: list, place: int, value: float) -> list:
    return [*values[:place], value, *values[place + 1 :]]
