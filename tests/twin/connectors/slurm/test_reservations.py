"""Reservations from `scontrol show reservation -o`, as Slurm 22.05 prints them."""

import pytest

from twin.connectors._slurm.nodes import read_reservations
from twin.connectors.facts import ConnectorError, ReservationFact

REST = (
    "Features=(null) PartitionName=(null) Flags={flags} TRES=cpu=16 Users={users} Groups=(null) Accounts=(null) "
    "Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n"
)


def line(name="fix", nodes="edge[1-2]", flags="MAINT,SPEC_NODES", users="root", start="1795380787", end="1795381387"):
    head = (
        f"ReservationName={name} StartTime={start} EndTime={end} Duration=00:10:00 Nodes={nodes} NodeCnt=2 CoreCnt=16 "
    )
    return head + REST.format(flags=flags, users=users)


def test_maintenance_and_reservations_of_users_in_the_order_of_their_start():
    text = line() + line("course", "edge3", "DAILY,SPEC_NODES", "ann,bob", "1795380000", "1795380600")
    assert read_reservations(text) == (
        ReservationFact("course", 1_795_380_000_000, 1_795_380_600_000, ("edge3",), False, "ann,bob"),
        ReservationFact("fix", 1_795_380_787_000, 1_795_381_387_000, ("edge1", "edge2"), True, "root"),
    )


@pytest.mark.parametrize(
    "text", ["", "No reservations in the system\n", line(flags="TIME_FLOAT"), line(nodes="(null)")]
)
def test_without_nodes_or_a_fixed_time_there_is_none(text):
    assert read_reservations(text) == ()


def test_another_answer_gives_one_clear_sentence():
    with pytest.raises(ConnectorError, match="the answer has the line 'slurm_load_reservations error' instead of"):
        read_reservations("slurm_load_reservations error\n")
