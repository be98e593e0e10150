"""The agenda against a plain list, and the order of what happens at one instant."""

from hypothesis import given
from hypothesis import strategies as st

from scheduling.kernel.agenda import Agenda, Priority

PRIORITIES = st.sampled_from(list(Priority))
VERBS = st.sampled_from(["schedule", "schedule", "cancel", "clear", "take", "restore"])
STEPS = st.lists(st.tuples(VERBS, st.integers(0, 9), PRIORITIES, st.integers(0, 3)), max_size=20)


@given(STEPS)
def test_it_is_a_sorted_list_with_one_entry_for_each_priority_and_id(steps):
    agenda, plain = Agenda(), {}
    for verb, at_ms, priority, id_ in steps:
        if verb == "schedule":
            agenda.schedule(at_ms, priority, id_)
            plain[int(priority), id_] = at_ms
        elif verb == "cancel":
            agenda.cancel(priority, id_)
            plain.pop((int(priority), id_), None)
        elif verb == "clear":
            agenda.clear(priority)
            plain = {key: ms for key, ms in plain.items() if key[0] != priority}
        elif verb == "restore":
            copy = Agenda()
            copy.restore([list(entry) for entry in agenda.entries()])
            agenda = copy
        elif plain:
            first = min((ms, *key) for key, ms in plain.items())
            assert agenda.peek() == first
            agenda.take()
            del plain[first[1:]]
        assert agenda.entries() == sorted((ms, *key) for key, ms in plain.items())
        assert agenda.peek() == min(agenda.entries(), default=None)


def test_at_one_instant_what_frees_comes_before_what_takes():
    agenda = Agenda()
    for priority in reversed(Priority):
        agenda.schedule(5, priority)
    agenda.schedule(4, Priority.PHASE, 1)
    order = []
    while (entry := agenda.peek()) is not None:
        order.append(entry[1:])
        agenda.take()
    assert order == [(Priority.PHASE, 1), *((priority, 0) for priority in Priority)]
    assert [p.name for p in Priority] == ["BEGIN", "COMPLETION", "OUTAGE", "ARRIVAL", "ALARM", "SLOT", "PHASE", "END"]
