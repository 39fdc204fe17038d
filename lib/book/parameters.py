"""The parameters cell of a chapter: what may be set, of which type, within which bounds.

Each line of the cell reads ``name: type = literal  # meaning [allowed]``. The types are int, float,
str, bool, list[int], list[float], list[str], and any of these ``| None``. ``[allowed]`` may be left
out; it is ``[2..2000]`` for a closed range, with ``<`` at an end that is itself excluded
(``[0.5<..<1]``) and either end left empty for no bound, or ``[em|cov|winnow]`` for choices. For a
list it applies to each element. The cell is parsed and never run.
"""

import ast
import io
import math
import re
import reprlib
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass

import yaml

from lib.sources import PARSING
from lib.validation import nearest

TAG = "parameters"
SCALARS = ("int", "float", "str", "bool", "None")
LISTS = ("list[int]", "list[float]", "list[str]")
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no file can hold
RANGE = re.compile(r"(?P<lo>[^<|]*?)(?P<above><)?\.\.(?P<below><)?(?P<hi>[^<|]*)")


class ParameterError(ValueError):
    """A parameter that does not exist, or a value that it may not have."""


class _Loader(yaml.SafeLoader):
    """Safe YAML with numbers and truth values as in Python, so that 1:30 and 010 are text; no name is set twice.

    There are no aliases, by which a few lines can stand for gigabytes.
    """

    yaml_implicit_resolvers = {}  # noqa: RUF012 - as in yaml.SafeLoader

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(problem="an alias (*name) is not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node, deep=False):
        for name, times in Counter(str(key.value) for key, _ in node.value).items():
            if times > 1:
                raise yaml.MarkedYAMLError(
                    problem=f"{name!r} is set twice", problem_mark=node.start_mark
                )
        return super().construct_mapping(node, deep)


_TAG = "tag:yaml.org,2002:"
_Loader.add_implicit_resolver(_TAG + "null", re.compile("(~|null|Null|NULL|)$"), None)
_Loader.add_implicit_resolver(
    _TAG + "bool", re.compile("(true|True|TRUE|false|False|FALSE)$"), None
)
_Loader.add_implicit_resolver(_TAG + "int", re.compile(r"[-+]?(0|[1-9][0-9_]*)$"), None)
_FLOAT = re.compile(r"([-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?\.inf|\.nan)$")
_Loader.add_implicit_resolver(_TAG + "float", _FLOAT, None)


def load_yaml(text: str):
    """Return the plain values that a YAML text stands for; tags that would build objects are refused."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - _Loader is a SafeLoader
    # yaml.YAMLError, and others such as RecursionError for thousands of brackets
    except Exception as error:
        raise yaml.YAMLError(f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True)
class Parameter:
    """One line of a parameters cell."""

    name: str
    type: str
    default: object
    meaning: str = ""
    allowed: str = ""

    @property
    def options(self) -> list[str]:
        """The types that a value may have."""
        return [option.strip() for option in self.type.split("|")]

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        return f"{self.type} in [{self.allowed}]" if self.allowed else self.type

    def parse(self, text: str):
        """Return the value that a command-line text stands for; what is meant as text stays as it was typed.

        A list may be typed without its brackets: ``4`` or ``em,cov``.
        """
        if "str" in self.options and not ("None" in self.options and text in ("null", "None")):
            return text
        if (
            set(self.options) & set(LISTS)
            and text not in ("null", "None")
            and not text.startswith("[")
        ):
            text = f"[{text}]"
        try:
            return None if text == "None" else load_yaml(text)
        except yaml.YAMLError as error:
            raise ParameterError(
                f"{self.name} = {reprlib.repr(text)}: expected {self.expected}"
            ) from error

    def check(self, value):
        """Return `value` in its type, or raise ParameterError saying what is allowed."""
        for option in self.options:
            if _has_type(value, option):
                return self._within(_convert(value, option))
        raise ParameterError(f"{self.name} = {reprlib.repr(value)}: expected {self.expected}")

    def _within(self, value):
        elements = value if isinstance(value, list) else [value]
        if not elements:
            raise ParameterError(
                f"{self.name} = []: expected at least one element of {self.expected}"
            )
        try:
            allowed = all(
                element is None or _allowed(element, self.allowed) for element in elements
            )
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"parameters cell: [{self.allowed}] of {self.name} is no range of numbers"
            ) from error
        if not allowed:
            raise ParameterError(f"{self.name} = {reprlib.repr(value)}: expected {self.expected}")
        return value


def read_parameters(cells: list[dict]) -> dict[str, Parameter]:
    """Return the parameters of a chapter by name, in the order of its cell."""
    tagged = [cell for cell in cells if TAG in cell["metadata"].get("tags", [])]
    if len(tagged) != 1:
        raise ParameterError(f"a chapter has one cell tagged {TAG!r}; found {len(tagged)}")
    return parse_cell(tagged[0]["source"])


def parse_cell(source: str) -> dict[str, Parameter]:
    """Return the parameters that the source of a parameters cell declares."""
    try:
        with PARSING:
            body, comments = ast.parse(source).body, _comments(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise ParameterError(f"parameters cell: not Python: {error}") from error
    parameters = {}
    for parameter in (_parameter(node, comments) for node in body):
        if parameter.name in parameters:
            raise ParameterError(f"parameters cell: {parameter.name} is set twice")
        parameter.check(parameter.default)
        parameters[parameter.name] = parameter
    return parameters


def _parameter(node: ast.stmt, comments: dict[int, str]) -> Parameter:
    if (
        not isinstance(node, ast.AnnAssign)
        or not isinstance(node.target, ast.Name)
        or node.value is None
    ):
        raise ParameterError(
            f"parameters cell, line {node.lineno}: write `name: type = literal  # meaning [allowed]`"
        )
    name, type_ = node.target.id, ast.unparse(node.annotation)
    if any(option.strip() not in SCALARS + LISTS for option in type_.split("|")):
        raise ParameterError(
            f"parameters cell: {name} has type {type_}; known are {', '.join(SCALARS + LISTS)}"
        )
    try:
        default = ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise ParameterError(f"parameters cell: the value of {name} must be a literal") from error
    comment = comments.get(node.end_lineno, comments.get(node.lineno, ""))
    meaning, allowed = re.fullmatch(r"(.*?)\s*(?:\[([^\[\]]*)\])?", comment).groups()
    return Parameter(name, type_, default, meaning, (allowed or "").strip())


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("#").strip() for t in tokens if t.type == tokenize.COMMENT}


def _has_type(value, option: str) -> bool:
    if option in LISTS:
        return isinstance(value, list | tuple) and all(_has_type(v, option[5:-1]) for v in value)
    if option in ("None", "bool"):
        return value is None if option == "None" else isinstance(value, bool)
    if option == "str":
        return isinstance(value, str) and not SURROGATE.search(value)
    is_number = isinstance(value, int if option == "int" else int | float) and not isinstance(
        value, bool
    )
    return is_number and abs(value) <= sys.float_info.max


def _convert(value, option: str):
    if option in LISTS:
        return [_convert(v, option[5:-1]) for v in value]
    return float(value) if option == "float" else value


def _allowed(value, allowed: str) -> bool:
    match = RANGE.fullmatch(allowed)
    if not allowed:
        return True
    if match is None:
        return str(value) in [choice.strip() for choice in allowed.split("|")]
    lo, hi = float(match["lo"] or -math.inf), float(match["hi"] or math.inf)
    return (lo < value if match["above"] else lo <= value) and (
        value < hi if match["below"] else value <= hi
    )


def resolve(parameters: dict[str, Parameter], *layers: dict) -> dict:
    """Return the checked values that the layers set, a later layer over an earlier one.

    Raises
    ------
    ParameterError
        For a name that is not a parameter (it names the nearest) or a value of the wrong type or
        out of range.
    """
    values = {}
    for name, value in (item for layer in layers for item in layer.items()):
        if name not in parameters:
            raise ParameterError(f"no parameter {name!r}{nearest(str(name), list(parameters))}")
        values[name] = parameters[name].check(value)
    return values
