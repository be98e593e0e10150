"""Bounds that divide all schedules by the completions of jobs, with prices for each part.

plans.py has the cheapest plan of a job at given prices, tree.py the division and its check, master.py the linear
program over plans that are generated as columns, search.py the search for a good division.
"""
