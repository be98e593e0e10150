"""The parts of PD-ORS; algorithms/pd_ors.py puts them together.

prices.py says what a unit costs, work.py in what units work is counted, job_view.py what one job finds in each kind of
slots, multi_machine.py and lp_rounding.py where it can stand on several machines, quote.py which options that makes and
the best plan of them. The solvers underneath are in solvers/.
"""
