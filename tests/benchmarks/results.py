"""Write what a benchmark found."""

import json
from datetime import date


def write(path, rows, **about):
    """Write rows, one a line, and what is said about them, with the date."""
    lines = ",\n".join(f"  {json.dumps(row, allow_nan=False)}" for row in rows)
    about = json.dumps(about | {"date": date.today().isoformat()}, indent=1)
    path.write_text(f'{{\n "rows": [\n{lines}\n ],{about[1:]}\n', encoding="utf-8")
