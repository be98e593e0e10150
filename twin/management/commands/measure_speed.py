"""manage.py measure_speed: the speed at which this machine trains a small model, as a file for generate."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from scheduling.model.measured_speed import MIN_SETTINGS, fit
from scheduling.model.values import ModelError
from scheduling.reporting.quantities import counted
from twin.files.speed_json import dump_speed
from twin.infra.processor import cores
from twin.management.atomic_output import atomic_file
from twin.management.headless import HeadlessCommand, place, positive
from twin.measuring.measurement import measured, settings

MIN_BATCH = 4
MAX_WORKERS, MAX_ITERATIONS, MAX_BATCH, MAX_GRADIENT_MB = 64, 100_000, 65_536, 1_000.0


class Command(HeadlessCommand):
    help = (
        "Trains a small model with 1 to N workers and 1 or 2 parameter servers over loopback, fits the speed model to "
        "the iteration times, and writes it to a file for generate --speed."
    )
    unwinds = True  # the processes of a training

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workers", type=positive, default=4, help="largest number of workers; default: 4")
        parser.add_argument(
            "--ps", type=int, choices=(1, 2), default=2, help="largest number of parameter servers; default: 2"
        )
        parser.add_argument(
            "--batch", type=positive, default=256, help="samples per worker and iteration; default: 256"
        )
        parser.add_argument("--gradient-mb", type=float, default=4.0, help="size of the gradient in MB; default: 4")
        parser.add_argument("--iterations", type=positive, default=30, help="iterations per setting; default: 30")
        parser.add_argument("--out", type=place, required=True, help="file to write")

    def work(self, **options: Any) -> None:
        for name, most in (("workers", MAX_WORKERS), ("iterations", MAX_ITERATIONS), ("batch", MAX_BATCH)):
            if options[name] > most:
                raise ModelError(f"--{name} must be at most {most:,}, got {options[name]:,}")
        if not 0.001 <= options["gradient_mb"] <= MAX_GRADIENT_MB:
            raise ModelError(f"--gradient-mb must be from 0.001 to {MAX_GRADIENT_MB:g}, got {options['gradient_mb']:g}")
        if options["batch"] < MIN_BATCH:
            raise ModelError(f"--batch must be at least {MIN_BATCH}, so that the sizes differ, got {options['batch']}")
        chosen = settings(options["workers"], options["ps"], options["batch"])
        if len(chosen) < MIN_SETTINGS:
            raise ModelError(
                f"{counted(len(chosen), 'setting')} cannot be fitted; request more workers or a larger batch"
            )
        rows = measured(chosen, options["gradient_mb"], options["iterations"], self.report)
        speed = fit(rows, options["gradient_mb"], cores())
        with atomic_file(options["out"]) as file:
            file.write(dump_speed(speed, rows))
        self.report(
            f"fixed {speed.fixed_ms:.3g} ms, {speed.sample_ms:.3g} ms per sample, {speed.megabyte_ms:.3g} ms per MB; "
            f"R2 {speed.r2:.3f}, error on held-out settings {100 * speed.mean_error:.1f} % on average, "
            f"{100 * speed.worst_error:.1f} % at most; written to {options['out']}"
        )
