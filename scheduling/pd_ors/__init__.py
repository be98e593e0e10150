"""The parts of PD-ORS (000, MobiHoc 2020); algorithms/pd_ors.py puts them together.

prices.py says what a unit costs, view.py what one job finds in each kind of slots, outside.py and paper.py where it can stand on
several machines, quote.py which options that makes and the best plan of them. The solvers underneath are in solvers/.
"""
