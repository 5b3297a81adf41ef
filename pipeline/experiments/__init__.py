"""The work behind the experiments of `metrics.lab.catalogue`."""
