"""The log of a run that nothing disturbs."""

from twin.eventlog import event_log
from twin.scenarios import store


def undisturbed(run):
    """The log as the kernel alone gives it."""
    simulation = store.simulation(run)
    return [event_log.event_line(event) for event in simulation.events()]
