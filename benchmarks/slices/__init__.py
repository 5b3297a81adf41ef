"""What slices cost and bring, measured on real Spark: `python -m benchmarks.slices WHAT`."""
