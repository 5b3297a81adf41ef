"""A forecast in front of any scaler, so that scaling out comes before the peak.

forecast    seasonal naive and Holt-Winters on a series
history     arrivals by steps of time, and how good past forecasts were
scaler      the snapshot of the near future handed to another scaler
"""
