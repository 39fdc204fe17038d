"""Write concentrations.json: what lib.cia.concentration finds for the classes of random models that chapters draw.

Run it by ``python data/concentrations.py``.
"""

import json
from itertools import product

from lib.base.files import DATA, write_whole
from lib.cia import concentration

PATH = DATA / "concentrations.json"
NUMBERS = (2, 3, 4, 5, 6, 8)  # of hidden values
CLASSES = [
    *product((10, 25, 75), NUMBERS, ("beta",), (0.8, 0.9, 0.95, 0.97)),
    *product((5, 6, 100, 200, 500), NUMBERS, ("beta",), (0.8, 0.9)),
    *product((10, 75), NUMBERS, ("dirichlet", "equal"), (0.9,)),
]


def main():
    """Find them anew."""
    PATH.unlink(missing_ok=True)
    found = {}
    for n, k, weights, difficulty in CLASSES:
        try:
            found[f"{n} {k} {weights} {difficulty}"] = concentration(n, k, difficulty, weights)
        except ValueError as error:
            print(error)
    write_whole(PATH, json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
