"""The simulation kernel: events in order of time, the schedulers it calls, and the ledger that every plan must fit."""
