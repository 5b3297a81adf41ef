"""What is measured: every module writes its section of RESULTS.md."""

import os

# As the command line has it: threads of the library cost several times the work here.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
