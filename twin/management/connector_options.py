"""Options of commands that read a real cluster."""

from __future__ import annotations

from django.core.management.base import CommandParser

from twin.connectors.base import names


def add_connector_arguments(parser: CommandParser) -> None:
    """The connector of a real cluster, its settings and its rule of sites."""
    parser.add_argument("connector", help=f"one of {', '.join(names())}")
    parser.add_argument(
        "--param", action="append", default=[], metavar="k=v", help="setting of the connector; repeatable"
    )
    parser.add_argument(
        "--site",
        action="append",
        default=[],
        metavar="k=v",
        help="rule of sites: edge_by, edge_pattern; repeatable",
    )
