"""One thread per numerical library, so that tests that run side by side do not fight over cores."""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
