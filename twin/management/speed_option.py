"""Option of commands that give jobs a measured speed."""

from __future__ import annotations

from django.core.management.base import CommandParser

from twin.management.headless import place


def add_speed_argument(parser: CommandParser) -> None:
    parser.add_argument(
        "--speed",
        type=place,
        help="file from measure_speed; jobs get the measured speed; their duration with one worker stays the same",
    )
