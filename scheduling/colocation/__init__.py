"""The parts of Harmony: performance model, grouping (Algorithm 1), memory, subtasks.

algorithms/harmony.py puts them together.

Everything here is a function of plain numbers and arrays. Times are ms; `comp` is the machine-ms of computation in one
iteration (W), `comm` the ms of communication in one iteration (T_net).
"""
