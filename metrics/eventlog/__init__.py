"""Spark event logs, finished or still growing, as runs of the model.

    paths -> locate -> reader (lines) -> parser (events) -+-> summary  (what happened)
                                                          +-> run      (ClusterSamples)
                                                                         -> tables (Parquet)

`importer` joins these for finished logs, `follow` for growing ones, and
`spark_job` runs the importer on many logs at once.
"""
