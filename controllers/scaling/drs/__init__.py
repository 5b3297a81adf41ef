"""How many processors each operator needs, from a queueing network (DRS)."""
