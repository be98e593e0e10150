"""Quantities as text."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

MIN_MS = 0.01  # two decimals
MIN_TWO_DECIMALS = 0.01  # smallest amount of utility that is written with two decimals
MINUS = "−"


def duration(ms: float) -> str:
    """Milliseconds as text: 850 ms, 12.5 s, 3m 20s, 5h 10m, 2d 3h."""
    if ms < 1_000:
        return f"{ms:g} ms"
    seconds = ms / 1_000
    if seconds < 60:
        return f"{seconds:.3g} s"
    if seconds < 3_600:
        return _two_parts(seconds, "m", 60, "s", 1)
    if seconds < 86_400:
        return _two_parts(seconds, "h", 3_600, "m", 60)
    return _two_parts(seconds, "d", 86_400, "h", 3_600)


def amount(value: float) -> str:
    """Amount without a unit: two decimals, or three significant digits if it is below MIN_TWO_DECIMALS."""
    return fixed(value, 2) if not value or abs(value) >= MIN_TWO_DECIMALS else significant(value)


def fixed(value: float, digits: int) -> str:
    """Number with thousands separators and always that many decimals."""
    return _signed(f"{round(value, digits) + 0:,.{digits}f}")


def significant(value: float) -> str:
    """Number with three significant digits, as in static/js/util/format.js: 0.00123, 1.20e-9."""
    if value and not 1e-4 <= abs(value) < 1e7:
        mantissa, exponent = f"{value:.2e}".split("e")
        return _signed(f"{mantissa}e{int(exponent):+d}")
    return _signed(f"{value:,.0f}" if abs(value) >= 1_000 else f"{float(f'{value:.3g}'):g}")


def counted(number: int, noun: str) -> str:
    """Number with its noun: 1 worker, 1,200 workers."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def value_text(value: float, unit: str) -> str:
    """Metric value as pages display it (valueText of static/js/core/metric-table.js)."""
    if unit == "share":
        return _signed(f"{_rounded(Decimal(value * 100), 1):.1f} %")
    if unit == "x":
        return f"{_grouped(value)} ×"
    if unit != "ms":
        return _grouped(value)
    if 0 < value < MIN_MS:
        return f"< {MIN_MS} ms"
    if value < 1_000:
        return f"{_grouped(value)} ms" if value % 1 else f"{value:.0f} ms"
    return f"{_plain(_rounded(Decimal(value / 1_000), 1))} s" if value < 60_000 else duration(value)


def _grouped(value: float) -> str:
    """Number with thousands separators and at most two decimals: 1,234.5."""
    return _signed(_plain(_rounded(Decimal(repr(float(value))), 2)))


def _signed(text: str) -> str:
    """Text of a number with a minus sign instead of a hyphen."""
    return text.replace("-", MINUS, 1) if text.startswith("-") else text


def _plain(value: Decimal) -> str:
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _rounded(value: Decimal, digits: int) -> Decimal:
    """Rounded value, halves away from zero like browsers; no negative zero."""
    return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) + 0


def _two_parts(seconds: float, unit: str, size: int, part: str, part_size: int) -> str:
    """Two units, the second one rounded, as in static/js/util/format.js."""
    whole = int(seconds // size)
    rest = int((seconds - whole * size) / part_size + 0.5)
    if rest * part_size >= size:
        whole, rest = whole + 1, 0
    return f"{whole}{unit} {rest}{part}" if rest else f"{whole}{unit}"
