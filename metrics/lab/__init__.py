"""The experiments of the five papers: what each asks, and what became of it on this machine."""
