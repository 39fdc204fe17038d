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
        """The position after its move, before the rows change places."""
        ours, theirs = (men.tolist() for men in position)
        # the fields of a board as FIBS writes it: men by place, those of the other player negative,
        places = [-theirs[BAR], *(ours[i] - theirs[BAR - i] for i in range(1, BAR)), ours[BAR]]
        # whose turn it is, the dice, the cube and the direction, men that are off or on the bar
        turn = [1, *dice, 0, 0]
        cube_and_direction = [1, 1, 1, 0, 1, -1, 0, BAR]
        off_and_bar = [ours[OFF], theirs[OFF], ours[BAR], theirs[BAR]]
        fields = [*places, *turn, *cube_and_direction, *off_and_bar, 0, 0, 0, 0]
        self.lines.write("board:us:them:9999:0:0:" + ":".join(map(str, fields)) + "\n")
        self.lines.flush()
        next_position = position.copy()
        for step in self.lines.readline().replace("*", "").split():
            start, end = map(int, step.split("/"))
            next_position[0, [start, end]] += -1, 1
            if end != OFF and next_position[1, BAR - end] == 1:  # a single man is hit
                next_position[1, [BAR - end, BAR]] += -1, 1
        return next_position

    def close(self):
        self.lines.close()
        self.socket.close()
        self.process.kill()
        self.process.wait()


def play(player, gnubg, rng):
    """Points of a player in one game against GNU Backgammon."""
    position = START.copy()
    dice = playing._throw(rng, True)
    is_players_turn = dice[0] > dice[1]
    while True:
        choices = successors(*position, dice)
        choice = choices[0]
        if len(choices) > 1 and is_players_turn:
            choice = choices[player.values(choices).argmax()]
        elif len(choices) > 1:
            choice = gnubg.move(position, dice)
            if not (choices == choice).all(axis=(1, 2)).any():
                raise AssertionError(
                    f"GNU Backgammon moves from {position.tolist()} with {dice}"
                    f" to {choice.tolist()}"
                )
        if choice[0, OFF] == 15:
            points = int(playing._score(choice))
            return points if is_players_turn else -points
        position = choice[::-1].copy()
        dice = playing._throw(rng, False)
        is_players_turn = not is_players_turn


def measure(folder, n_networks, n_learned, n_hidden, n_games):
    """Points of networks, one a row."""
    gnubg = Gnubg(folder)
    rows = []
    for run in range(n_networks):
        net = self_play(ValueNet(n_hidden, random_state=run), n_learned, seed=run)
        rng = np.random.default_rng([run, n_learned])
        points = np.array([play(net, gnubg, rng) for _ in range(n_games)])
        row = {
            "network": run,
            "hidden": n_hidden,
            "learned_from": n_learned,
            "games": n_games,
            "points": float(points.mean()),
            "won": float((points > 0).mean()),
        }
        rows.append(row)
        print(row)
    gnubg.close()
    return rows


def main():
    import tempfile

    from tests.benchmarks.run import machine

    parser = argparse.ArgumentParser(prog="python -m tests.peers.gnubg", description=__doc__)
    defaults = {"networks": 5, "learned": 20_000, "hidden": 40, "games": 200}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    command = [PROGRAM, "--version"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    gnubg_version = output.split()[2]
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(folder, options.networks, options.learned, options.hidden, options.games)
    details = machine() | {
        "gnubg": gnubg_version,
        "plies": 0,
        "date": date.today().isoformat(),
    }
    results = {"rows": rows, "machine": details}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
