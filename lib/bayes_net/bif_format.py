"""Reader of the Interchange Format for Bayesian networks (BIF), as JavaBayes defines it.

A file is a sequence of blocks with any text between them; this is the whole grammar::

    network NAME { ... }
    variable NAME { type discrete [ 2 ] { STATE, STATE }; }
    probability ( CHILD | PARENT, PARENT ) {
      table 0.2, 0.8, ...;          // all cells: the child's state changes slowest,
                                    // the last parent's fastest
      ( STATE, STATE ) 0.2, 0.8;    // a row: the child's states, given those of the parents
      default 0.2, 0.8;             // rows that are not listed
    }

Every block may also hold ``property ANYTHING;``. Text is read in three steps: comments go, and
quoted text stays whole (`_tokens`); braces and semicolons make blocks and statements (`_blocks`);
then each statement is read.

References
----------
Cozman: The Interchange Format for Bayesian Networks, version 0.15, with JavaBayes' parser of it
(BIFv015.jj), https://www.cs.cmu.edu/~javabayes/Home/node7.html. Rows go before the table, and the
table before the default, as in its ConvertInterchangeFormat.java.
"""

import gzip
import re
import zlib
from graphlib import CycleError, TopologicalSorter
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lib.base.validation import nearest, probability_divisors
from lib.bayes_net.network import LARGEST

HALF_UNIT = 0.0005  # how far a number that is rounded to three decimals may be off
NOISE = 1e-9  # of sums in floating point, far below any digit that files print

_STRING = r'"(?:[^"\\\n]|\\[^\n])*'  # but its last quote, as one that has none ends with the line
_TOKEN = re.compile(rf'{_STRING}"?|//[^\n]*|/\*(?:.*?\*/)?|[{{}};]|[^{{}};"/]+|.', re.DOTALL)
_PIECE = re.compile(rf'{_STRING}"?|[(\[][^()\[\]]*[)\]]|[^"()\[\],|\s]+|.', re.DOTALL)
_HEADING = re.compile(
    r'(?:.*^[ \t]*|.*\b)(network|variable|probability)(?=[\s("]|$)(.*)', re.DOTALL | re.MULTILINE
)
_PROPERTY = re.compile(r"property\b")
_TYPE = re.compile(r"type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{(.*)\}", re.DOTALL)


class NamedTables(NamedTuple):
    """Contents of a file, by the variables' names, in the order of the file.

    Tables are P(variable | parents) of shape (size of each parent, in the order of `parents`...,
    size of variable).
    """

    states: dict
    parents: dict
    tables: dict


def read_bif(path):
    """Read variables, parents and tables from a file, which may be compressed by gzip.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    NamedTables

    Raises
    ------
    ValueError
        If the file is cut off or breaks the grammar, or its variables, parents and rows do not fit
        together; the message names the file, the variable and the row.
    """
    try:
        return _parse(_decode(Path(path).read_bytes()))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _decode(contents):
    """Text of a file, with one kind of line end."""
    if contents[:2] == b"\x1f\x8b":
        try:
            contents = gzip.decompress(contents)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(
                f"gzip cannot decompress the file, which may be cut off: {error}"
            ) from None
    try:
        text = contents.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = contents.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse(text):
    blocks = list(_blocks(text))
    if sum(kind == "network" for kind, _, _ in blocks) > 1:
        raise ValueError("there must be one network; got several")
    states = {}
    parents = {}
    bodies = {}
    for kind, heading, statements in blocks:
        if kind == "variable":
            name = _unquote(heading)
            if name in states:
                raise ValueError(f"variable {name} is declared twice")
            states[name] = _states(name, statements)
    for kind, heading, statements in blocks:  # after all variables, as blocks may come in any order
        if kind == "probability":
            child, *family = _family(heading, states)
            if child in parents:
                raise ValueError(f"variable {child} has two probability blocks")
            parents[child], bodies[child] = family, statements
    without = [name for name in states if name not in parents]
    if without or not states:
        raise ValueError(f"there is no probability of {', '.join(without) or 'any variable'}")
    parents = {name: parents[name] for name in states}
    _check_structure(parents, states)
    return NamedTables(
        states,
        parents,
        {name: _table(name, parents[name], bodies[name], states) for name in states},
    )


def _check_structure(parents, states):
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        raise ValueError(
            f"parents must not form a cycle; got {' -> '.join(error.args[1])}"
        ) from None
    cells = {
        name: prod(len(states[member]) for member in (name, *family))
        for name, family in parents.items()
    }
    if sum(cells.values()) > LARGEST:
        name = max(cells, key=cells.get)
        got = f"{sum(cells.values()):,}, of which {cells[name]:,} are of {name}"
        raise ValueError(f"the tables must have at most {LARGEST:,} entries; got {got}")


# Tokens, blocks and statements


def _tokens(text):
    """Yield quoted strings, braces, semicolons and text between them; comments become blanks."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "/*":
            raise ValueError("a comment that begins with /* has no end")
        yield " " if token.startswith(("//", "/*")) else token


def _blocks(text):
    """Yield the kind, the heading and the statements of each block.

    A block begins with its keyword at the beginning of a line or after another block. Where no line
    before a brace begins so, the last keyword in the text is taken; where there is none, text and
    braces are of another program.
    """
    tokens = _tokens(text)
    between = ""
    for token in tokens:
        if token == "}":
            raise ValueError(
                f"there is a closing brace outside of a block, after {between.strip()[-40:]!r}"
            )
        if token != "{":
            between += token
            continue
        match = _HEADING.fullmatch(between)
        kind, heading = match.groups() if match else ("text", between)
        statements = _statements(tokens, f"{kind} {heading.strip()[:80]}")
        if match:
            yield kind, heading.strip(), statements
        between = ""


def _statements(tokens, block):
    """Take the tokens of a block, to its closing brace, and list its statements."""
    statements = []
    pieces = []
    depth = 0
    for token in tokens:
        if depth == 0 and token in (";", "}"):
            statements.append("".join(pieces).strip())
            pieces.clear()
            if token == "}":
                return [
                    statement
                    for statement in statements
                    if statement and not _PROPERTY.match(statement)
                ]
        else:
            depth += (token == "{") - (token == "}")
            pieces.append(token)
    raise ValueError(f"the file ends before the block {block!r} is complete")


# Lists of names


def _readings(text):
    """Yield the names in a list: those between commas, then those between commas, bars and blanks.

    The format ignores commas and bars, and a name is one word or in quotes. Programs in R write
    names with blanks, brackets and even none at all between commas. Which reading is meant is seen
    by what fits: the number of states that a variable has, or names that are known.
    """
    yield [_unquote(name) for name in _split(text, ",")]
    yield [_unquote(name) for name in _split(text, ",| \t\n") if name]


def _split(text, separators):
    """Split a text at separators, but not at those in quotes or brackets, as in (0,5]."""
    if separators == "," and not any(character in text for character in '"(['):
        return text.split(",")  # much faster, and nearly all rows are so
    fields = [[]]
    for piece in _PIECE.findall(text):
        if piece in separators:
            fields.append([])
        else:
            fields[-1].append(piece)
    return ["".join(pieces) for pieces in fields]


def _unquote(name):
    name = name.strip()
    return name[1:-1] if name.startswith('"') and re.fullmatch(rf'{_STRING}"', name) else name


# What statements say


def _states(name, statements):
    """The states that a variable's block declares, each with its number."""
    match = _TYPE.fullmatch(statements[0]) if len(statements) == 1 else None
    if not match:
        allowed = "one statement type discrete [ number ] { states };"
        raise ValueError(
            f"variable {name} must have {allowed} got {'; '.join(statements) or 'none'}"
        )
    size = int(match[1])
    for names in _readings(match[2]):
        if len(names) == size > 0:
            break
    else:
        raise ValueError(
            f"variable {name} must have {size} states, at least 1; got {match[2].strip()!r}"
        )
    if len(set(names)) < size:
        raise ValueError(f"variable {name} must have different states; got {', '.join(names)}")
    return {state: number for number, state in enumerate(names)}


def _family(heading, states):
    """Child and parents, from "( child | parent, parent )" or "( child parent parent )"."""
    if not (heading.startswith("(") and heading.endswith(")")):
        raise ValueError(f"probability must be of ( child | parents ); got {heading!r}")
    first, *others = _split(heading[1:-1], "|")
    for names in _readings("|".join(others) if others else first):
        family = [_unquote(first), *names] if others else names
        if family and all(name in states for name in family):
            break
    else:
        name = next((name for name in family if name not in states), heading)
        detail = f"got {name!r}{nearest(name, states)}"
        raise ValueError(f"probability {heading} must be of declared variables; {detail}")
    if len(set(family)) < len(family):
        raise ValueError(f"probability {heading} must be of different variables")
    return family


def _table(child, parents, statements, states):
    """P(child | parents) of a probability block, in the file's order of parents."""
    size = len(states[child])
    parent_states = {parent: states[parent] for parent in parents}
    try:
        entries = _entries(statements, size, parent_states)
        return _normalise_rows(_assemble_table(entries, size, parent_states), parent_states)
    except ValueError as error:
        raise ValueError(f"probability of {child}: {error}") from None


def _entries(statements, size, parent_states):
    """Numbers of "table", of "default", and of each row.

    A row's key is a tuple of the numbers of the parents' states.
    """
    entries = {}
    for statement in statements:
        entry, numbers = _entry(statement, parent_states)
        length = size * prod(map(len, parent_states.values())) if entry == "table" else size
        if entry in entries:
            raise ValueError(f"{_label(entry, parent_states)} is given twice")
        if len(numbers) != length:
            raise ValueError(
                f"{_label(entry, parent_states)} must have {length} numbers; got {len(numbers)}"
            )
        entries[entry] = numbers
    return entries


def _assemble_table(entries, size, parent_states):
    """The table, each row from its own entry, or else from "table", or else from "default"."""
    whole = entries.pop("table", None)
    default = entries.pop("default", None)
    sizes = [len(states) for states in parent_states.values()]
    table = np.empty((*sizes, size))
    if whole is not None:
        table[...] = np.moveaxis(np.reshape(whole, (size, *sizes)), 0, -1)
    elif default is not None:
        table[...] = default
    elif len(entries) < prod(sizes):
        missing = next(row for row in product(*map(range, sizes)) if row not in entries)
        label = _label(missing, parent_states)
        raise ValueError(f"there must be a row for each state of the parents; {label} is missing")
    for row, numbers in entries.items():
        table[row] = numbers
    return table


def _entry(statement, parent_states):
    """Key of a statement, "table", "default" or the row of parents' states, and its numbers."""
    if statement.startswith("("):
        listed, _, numbers = statement[1:].rpartition(")")
        entry = _row(listed, parent_states)
    else:
        entry, numbers = re.fullmatch(r"(\w*)(.*)", statement, re.DOTALL).groups()
        if entry not in ("table", "default"):
            allowed = "a row (states) numbers; or a table or default"
            raise ValueError(f"a statement must be {allowed}; got {statement!r}")
    try:
        return entry, [
            float(number) for number in numbers.replace(",", " ").replace("|", " ").split()
        ]
    except ValueError as error:
        raise ValueError(f"{_label(entry, parent_states)} must have numbers: {error}") from None


def _row(listed, parent_states):
    """Numbers of the parents' states that a row lists."""
    for names in _readings(listed):
        if len(names) == len(parent_states):
            row = tuple(map(dict.get, parent_states.values(), names))
            if None not in row:
                return row
    names = ", ".join(parent_states) or "there is none"
    raise ValueError(f"row ({listed}) must have a state of each parent: {names}")


def _label(entry, parent_states):
    """What a message calls an entry."""
    if isinstance(entry, str):
        return entry
    if not parent_states:
        return "the row"
    names = [
        list(states)[number] for states, number in zip(parent_states.values(), entry, strict=True)
    ]
    return f"row ({', '.join(names)})"


def _normalise_rows(table, parent_states):
    """The table with rows that sum to 1, if only rounding keeps them from it.

    A number that is rounded to three decimals or more is off by up to half a unit of the third, so
    a row's sum by up to half a unit for each state.
    """
    wrong = np.argwhere(~((table >= 0) & (table <= 1 + NOISE)))
    if len(wrong):
        *row, state = wrong[0]
        label = _label(row, parent_states)
        raise ValueError(f"{label} must have numbers from 0 to 1; got {table[(*row, state)]}")
    divisors = probability_divisors(
        table.sum(axis=-1),
        table.min(axis=-1),
        lambda *row: _label(row, parent_states),
        tolerance=HALF_UNIT * table.shape[-1] + NOISE,
    )
    return table / divisors[..., np.newaxis]
