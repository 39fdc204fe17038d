"""GNU Backgammon without lookahead as a player, and matches of our networks against it.

    python -m tests.peers.gnubg --networks 5 --games 200

lets networks learn, plays, and writes data/benchmarks/gnubg.json. On Debian: apt install gnubg.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import time
from datetime import date
from pathlib import Path

import numpy as np

from lib.backgammon import START, ValueNet, playing, self_play, successors
from lib.backgammon.rules import BAR, OFF

PROGRAM = shutil.which("gnubg", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"]))
RESULTS = Path(__file__).parents[2] / "data" / "benchmarks" / "gnubg.json"
COMMANDS = """set evaluation chequer evaluation plies 0
set evaluation chequer evaluation cubeful off
set threads 1
external {}
"""


class Gnubg:
    """A process that is asked for its move, in a game for points without a cube."""

    def __init__(self, folder):
        path = Path(folder) / "socket"
        program = [PROGRAM, "--tty", "--quiet", "--no-rc"]
        self.process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        self.process.stdin.write(COMMANDS.format(path))
        self.process.stdin.flush()
        self.socket = socket.socket(socket.AF_UNIX)
        for wait in np.linspace(0.05, 1, 40):
            try:
                self.socket.connect(str(path))
                break
            except OSError:
                time.sleep(wait)
        self.socket.settimeout(30)
        self.lines = self.socket.makefile("rw")

    def move(self, position, dice):
        """The position after its move, before the rows change places; it makes one step after the other."""
        own, other = (men.tolist() for men in position)
        places = [-other[BAR], *(own[i] - other[BAR - i] for i in range(1, BAR)), own[BAR]]
        turn = [
            1,
            *dice,
            0,
            0,
            1,
            1,
            1,
            0,
            1,
            -1,
            0,
            BAR,
            own[OFF],
            other[OFF],
            own[BAR],
            other[BAR],
            0,
            0,
            0,
            0,
        ]
        self.lines.write("board:us:them:9999:0:0:" + ":".join(map(str, [*places, *turn])) + "\n")
        self.lines.flush()
        after = position.copy()
        for step in self.lines.readline().replace("*", "").split():
            start, end = map(int, step.split("/"))
            after[0, [start, end]] += -1, 1
            if end != OFF and after[1, BAR - end] == 1:
                after[1, [BAR - end, BAR]] += -1, 1
        return after

    def close(self):
        self.lines.close()
        self.socket.close()
        self.process.kill()
        self.process.wait()


def play(player, gnubg, rng):
    """Points of a player in one game against GNU Backgammon."""
    position, dice = START.copy(), playing._throw(rng, True)
    ours = dice[0] > dice[1]
    while True:
        choices = successors(*position, dice)
        if len(choices) > 1 and ours:
            choices = choices[[player.values(choices).argmax()]]
        elif len(choices) > 1:
            after = gnubg.move(position, dice)
            if not (choices == after).all(axis=(1, 2)).any():
                raise AssertionError(
                    f"GNU Backgammon moves from {position.tolist()} with {dice} to {after.tolist()}"
                )
            choices = after[None]
        if choices[0, 0, OFF] == 15:
            return int(playing._score(choices[0])) * (1 if ours else -1)
        position, dice, ours = choices[0, ::-1].copy(), playing._throw(rng, False), not ours


def measure(folder, n_networks, n_learned, n_hidden, n_games):
    """Points of networks, one a row."""
    gnubg, rows = Gnubg(folder), []
    for run in range(n_networks):
        net = self_play(ValueNet(n_hidden, random_state=run), n_learned, seed=run)
        rng = np.random.default_rng([run, n_learned])
        points = np.array([play(net, gnubg, rng) for _ in range(n_games)])
        row = {"network": run, "hidden": n_hidden, "learned_from": n_learned, "games": n_games}
        rows.append(row | {"points": float(points.mean()), "won": float((points > 0).mean())})
        print(rows[-1])
    gnubg.close()
    return rows


def main():
    import tempfile

    from tests.benchmarks.run import machine

    parser = argparse.ArgumentParser(prog="python -m tests.peers.gnubg", description=__doc__)
    for name, usual in (("networks", 5), ("learned", 20_000), ("hidden", 40), ("games", 200)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    told = parser.parse_args()
    said = subprocess.run(
        [PROGRAM, "--version"], capture_output=True, text=True, check=True
    ).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(folder, told.networks, told.learned, told.hidden, told.games)
    about = machine() | {"gnubg": said[2], "plies": 0, "date": date.today().isoformat()}
    results = {"rows": rows, "machine": about}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
