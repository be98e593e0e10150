"""Fields of a job that a column mapping names, and the form of its arrival that is a date and a time."""

FIELDS = (
    "id",
    "arrival",
    "run",
    "start",
    "end",
    "workers",
    "gpus",
    "cpus",
    "memory_gb",
    "model",
    "group",
    "user",
    "status",
)
DATETIME = "datetime"  # a date and a time
