"""Options of the commands that sample a cluster."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from scheduling.model.values import ModelError
from twin.connectors.facts import ConnectorError
from twin.management.headless import pairs
from twin.samplers import base as samplers


def add_sampler_arguments(parser: CommandParser) -> None:
    """Options of the sampler."""
    parser.add_argument("--sampler", help=f"source of the real use of nodes: {', '.join(samplers.names())}, or none")
    parser.add_argument(
        "--sampler-param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="parameter of the sampler; repeatable",
    )


def sampler_given(options: dict[str, Any]) -> bool:
    """True if an option of the sampler is given."""
    return options["sampler"] is not None or bool(options["sampler_param"])


def built_sampler(options: dict[str, Any]) -> samplers.Sampler | None:
    """The sampler by the options; None without one."""
    given = pairs("--sampler-param", options["sampler_param"])
    if options["sampler"] in (None, "none"):
        if given:
            raise ModelError(f"--sampler is missing; known: {', '.join(samplers.names())}")
        return None
    try:
        return samplers.build(options["sampler"], given)
    except ConnectorError as error:
        raise ModelError(str(error)) from error
