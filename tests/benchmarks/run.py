"""Compare speed with other libraries: `make bench`.

Writes data/benchmarks/speed.json and prints a table.
It also writes data/benchmarks/elr_times.json: see `tests.benchmarks.elr_times`.
"""

import argparse
import json
import os
import platform
import time
from datetime import date
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "data" / "benchmarks" / "speed.json"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
PEERS = ("stepmix", "river", "pgmpy")
PARTS = ("elr_times", "trees", "acting", "rows", "words", "hidden")  # each writes its own rows


def processor():
    """The processor's name, without anything that names the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def seconds(call, clock=time.process_time):
    """Time of one call: the processor's, which other programs hardly change, or another clock's."""
    start = clock()
    call()
    return clock() - start


def machine(libraries=LIBRARIES):
    versions = {name: version(name) for name in libraries}
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **versions,
    }


def table(rows):
    """One line a row; a row without a peer is compared with its target in its own unit."""
    lines = [
        f"{'job':<70}{'ours':>11}{'peer':>11} {'unit':<17}{'ratio':>7}{'range':>18}"
        f"{'target':>8}{'aim':>6}"
    ]
    for row in rows:
        peer = ratio = interval = ""
        if row["peer"] is not None:
            peer = f"{row['peer']:.4g}"
            ratio = f"{row['ratio']:.1f}"
            interval = f"{row['ratio_low']:.1f} to {row['ratio_high']:.1f}"
        target = "" if row["target"] is None else f"{row['target']:g}"
        aim = "" if row["aim"] is None else f"{row['aim']:g}"
        lines.append(
            f"{row['job']:<70}{row['ours']:>11.4g}{peer:>11} {row['unit']:<17}{ratio:>7}"
            f"{interval:>18}{target:>8}{aim:>6}"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.run", description=__doc__)
    parser.add_argument(
        "--skip-panels",
        action="store_true",
        help="leave out the job of several minutes; write nothing",
    )
    parser.add_argument(
        "--only",
        choices=["bayes_nets", *PARTS],
        help="run only the jobs of the name; those of Bayesian networks are not written",
    )
    arguments = parser.parse_args()
    for name in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    if arguments.only in PARTS:
        import_module(f"tests.benchmarks.{arguments.only}").run(machine())
        return
    for peer in PEERS:
        if find_spec(peer) is None:
            raise SystemExit(f"{peer} is not installed; `make bench` installs it and runs this")
    if arguments.only:
        from tests.benchmarks import bayes_nets

        print(table(bayes_nets.rows()))
        return
    from tests.benchmarks import jobs  # only now, as this imports numpy

    experiment_rows = []
    if not arguments.skip_panels:  # first, while this process is still small
        experiment_rows = [*jobs.panels(), *jobs.cross_validation()]
    from tests.benchmarks import bayes_nets  # only now, as pgmpy is large

    em_rows, agreement = jobs.em()
    rows = [
        *em_rows,
        *jobs.winnow(),
        *jobs.online(16, 3, 50_000, dense=True, few=50_000),
        *jobs.online(100, 100, 10_000, dense=False, few=200),
        *bayes_nets.rows(),
        *experiment_rows,
        *jobs.compiling(),
    ]
    print(table(rows))
    if arguments.skip_panels:
        return
    results = {
        "rows": rows,
        "agreement": agreement,
        "machine": machine(LIBRARIES + PEERS),
        "date": date.today().isoformat(),
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for name in PARTS:  # last, so that the peak memory above is not theirs
        import_module(f"tests.benchmarks.{name}").run(machine())


if __name__ == "__main__":
    main()
