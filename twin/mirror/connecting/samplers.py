"""The sampler of a connection, as somebody without a shell on this host may choose it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from scheduling.kernel.parameters import UnknownName, parse_declared
from scheduling.model.values import ModelError
from twin.connectors.facts import ConnectorError
from twin.mirror.connecting.errors import FieldError
from twin.samplers.base import Sampler, build, sampler_class


def checked_sampler(name: str, given: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> Sampler | None:
    """The sampler with these parameters; None without a name. FieldError names the field.

    before: the parameters of the sampler until now, which may stay as they are.
    """
    if not name:
        if given:
            why = "its parameters are given; name a sampler, or leave the parameters out"
            raise FieldError("sampler", f"sampler is missing, although {why}")
        return None
    try:
        declared = sampler_class(name).Parameters
    except UnknownName as error:
        raise FieldError("sampler", str(error)) from error
    for key, value in given.items():
        try:
            parse_declared(f"sampler {name}", declared, {key: value})
        except (ModelError, UnknownName) as error:
            raise FieldError(f"sampler_parameters.{key}", str(error)) from error
    try:
        sampler = build(name, given)
    except (ModelError, UnknownName, ConnectorError) as error:
        known = [one.name for one in fields(declared)]
        key = next((word for word in re.findall(r"\w+", str(error)) if word in known), "")
        raise FieldError(f"sampler_parameters.{key}" if key else "sampler_parameters", str(error)) from error
    reason = sampler.unsafe()
    key = reason.partition(" ")[0]
    if reason and (before or {}).get(key) != getattr(sampler.parameters, key):
        sampler.close()
        raise FieldError(f"sampler_parameters.{key}", reason)
    return sampler
