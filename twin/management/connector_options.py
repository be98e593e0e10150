"""Options of commands that read a real cluster."""

from __future__ import annotations

from django.core.management.base import CommandParser

from twin.connectors.base import names


def add_connector_arguments(parser: CommandParser) -> None:
    """The connector of a real cluster, its parameters and its site rule."""
    parser.add_argument("connector", help=f"one of {', '.join(names())}")
    parser.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of the connector; repeatable"
    )
    parser.add_argument(
        "--site",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="site rule, which puts nodes at the edge or in the cloud: edge_by, edge_pattern; repeatable",
    )
