"""The independent check of a finished output: it shares no code with the schedulers, the kernel or their ledgers."""
