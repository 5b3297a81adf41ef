"""A forecast in front of any scaler, so that scaling out comes before the peak.

forecast    naive, seasonal naive, Holt-Winters and Theta on a series
choice      the season of a series, and the method that was least off on its past
history     arrivals by steps of time, and how good past forecasts were
scaler      the snapshot of the near future handed to another scaler
"""
