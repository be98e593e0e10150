"""Prefixes of Slurm's commands that may be chosen from a page: ssh to a host, without options that start a command."""

from __future__ import annotations

import re
import shlex

PLAIN = ("-4", "-6", "-q", "-T", "-x")
VALUES = {
    "-p": r"\d{1,5}",
    "-l": r"\w[\w.-]*",
    "-i": r"/[\w./-]+",
    "-J": r"\w[\w.@:-]*(,\w[\w.@:-]*)*",
    "-o": r"(BatchMode=yes|ConnectTimeout=\d+|ServerAlive(Interval|CountMax)=\d+|StrictHostKeyChecking=(yes|accept-new)"
    r"|ControlMaster=auto|ControlPersist=\w+)",
}
HOST = r"\w[\w.@:-]*"


def why_unsafe(prefix: str) -> str:
    """Reason why the prefix could start a command of its author's on this host; "" = it cannot."""
    helps = (
        "on the page it must be empty, or ssh with -o BatchMode=yes, -p, -l, -i, -J and a host; set another one with "
        "manage.py connect"
    )
    try:
        words = shlex.split(prefix)
    except ValueError as error:
        return f"prefix {prefix[:100]!r} cannot be read: {error}"
    if not words:
        return ""
    if words[0] != "ssh":
        return f"prefix must not be the command {words[0][:60]!r}: {helps}"
    rest = iter(words[1:])
    for word in rest:
        if word in PLAIN:
            continue
        if word in VALUES:
            value = next(rest, "")
            if not re.fullmatch(VALUES[word], value):
                return f"prefix must not have {word} {value[:60]!r}: {helps}"
            continue
        if not re.fullmatch(HOST, word):
            return f"prefix must not have {word[:60]!r}: {helps}"
        return "" if next(rest, None) is None else f"prefix must end with the host {word[:60]!r}: {helps}"
    return f"prefix names no host: {helps}"
