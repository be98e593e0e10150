"""The parts of OASiS; algorithms/oasis.py puts them together.

quote.py has the cost curves of one job and its best schedule, roles.py the division of servers by role. The solvers
underneath are in solvers/.
"""
