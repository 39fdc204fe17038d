"""One thread per numerical library, so that tests that run side by side do not fight over cores; fixed examples."""

import os

from hypothesis import settings

collect_ignore = ["peers", "browser"]  # these need other programs and libraries: make peers, make test-browser

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
