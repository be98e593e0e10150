"""Settings of DuckDB, which reads and writes Parquet files: one thread, bounded memory, nothing loaded by itself."""

from __future__ import annotations

from typing import Any

SETTINGS: dict[str, Any] = {
    "threads": 1, "memory_limit": "512MB", "autoinstall_known_extensions": False, "autoload_known_extensions": False
}  # fmt: skip
