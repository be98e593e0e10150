"""The parts of PD-ORS; algorithms/pd_ors.py puts them together.

prices.py has the cost of a unit, work.py the units in which work is counted, job_view.py the capacity for one job in
each kind of slots, multi_machine.py and lp_rounding.py the placements on several machines, quote.py the options and the
best plan of them. The solvers underneath are in solvers/.
"""
