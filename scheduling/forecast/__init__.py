"""Forecast of a cluster that runs by its own scheduler: when each waiting job will start and end, and how sure that is.

`values.py` has what is known, `forecasting.py` the forecast, `fitting.py` and `reservations.py` its parts, `bands.py`
the 80 % band, and `scoring.py` the errors of past forecasts. All of it is pure.
"""
