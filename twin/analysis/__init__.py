"""Analysis of finished and running schedules: comparisons and certificates."""
