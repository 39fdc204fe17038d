"""The parameters cell of a chapter: what may be set, of which type, within which bounds.

Each line of the cell reads ``name: type = literal  # meaning [allowed]``. The types are int, float,
str, bool, list[int], list[float], list[str], and any of these ``| None``. ``[allowed]`` may be left
out; it is ``[2..2000]`` for a closed range, with ``<`` at an end that is itself excluded
(``[0.5<..<1]``) and either end left empty for no bound, or ``[em|cov|winnow]`` for choices. For a
list it applies to each element, and no element may come twice. The cell is parsed and never run.

A ``str`` with ``[file]`` is the path of a file that exists, or empty for none. A relative path
begins at the folder in which the command was called; a chapter gets it whole. The contents of the
file count like a value: results of other contents are not used again.
"""

import ast
import io
import math
import os
import re
import reprlib
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass

import yaml

from lib.base.sources import PARSING
from lib.base.validation import nearest

TAG = "parameters"
INJECTED = "injected-parameters"  # tag and id of the cell that papermill adds
SCALARS = ("int", "float", "str", "bool", "None")
LISTS = ("list[int]", "list[float]", "list[str]")
FILE = "file"  # what is allowed of a text that is the path of a file
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no file can hold
# such as 2..2000, 0<..<1 and ..5
RANGE = re.compile(
    r"(?P<lower>[^<|]*?)(?P<excludes_lower><)?\.\.(?P<excludes_upper><)?(?P<upper>[^<|]*)"
)


class ParameterError(ValueError):
    """A parameter that does not exist, or a value that it may not have."""


class _Loader(yaml.SafeLoader):
    """Safe YAML with numbers and truth values as in Python, so that 1:30 and 010 are text.

    No name is set twice, and there are no aliases, by which a few lines can stand for gigabytes.
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


# Plain values that are no text, by the tag of their type.
_PLAIN_VALUES = {
    "null": "(~|null|Null|NULL|)$",
    "bool": "(true|True|TRUE|false|False|FALSE)$",
    "int": r"[-+]?(0|[1-9][0-9_]*)$",
    "float": r"([-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?\.inf|\.nan)$",
}
for _type, _pattern in _PLAIN_VALUES.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_type}", re.compile(_pattern), None)


def load_yaml(text: str):
    """Return the plain values that a YAML text stands for; YAMLError if it builds other objects."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - _Loader is a SafeLoader
    # PyYAML raises others than YAMLError, too: RecursionError for thousands of brackets
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
    def is_file(self) -> bool:
        """Whether a value is the path of a file."""
        return self.type == "str" and self.allowed == FILE

    @property
    def expected(self) -> str:
        """What a value must be, in words."""
        if self.is_file:
            return "the path of a file"
        return f"{self.type} in [{self.allowed}]" if self.allowed else self.type

    def parse(self, text: str):
        """Return the value that a text on the command line stands for.

        The text of a parameter that may be text is its value. A list may be typed without its
        brackets: ``4`` or ``em,cov``.
        """
        means_none = text in ("null", "None")
        if "str" in self.options and not (means_none and "None" in self.options):
            return text
        may_be_list = any(option in LISTS for option in self.options)
        if may_be_list and not means_none and not text.startswith("["):
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
                if self.is_file:
                    return self._check_file(value)
                return self._check_range(_convert(value, option))
        raise ParameterError(f"{self.name} = {reprlib.repr(value)}: expected {self.expected}")

    def _check_file(self, value):
        """Return the whole path of a file, or raise ParameterError if there is none."""
        path = os.path.abspath(os.path.expanduser(value)) if value else ""
        if path and not os.path.isfile(path):
            raise ParameterError(
                f"{self.name} = {value!r}: expected {self.expected}; there is no file {path}"
            )
        return path

    def _check_range(self, value):
        """Return the value if its elements are allowed and differ, or raise ParameterError."""
        elements = value if isinstance(value, list) else [value]
        if not elements:
            raise ParameterError(
                f"{self.name} = []: expected at least one element of {self.expected}"
            )
        for element in elements:
            if element is not None and not self._is_allowed(element):
                raise ParameterError(
                    f"{self.name} = {reprlib.repr(value)}: expected {self.expected}"
                )
        if len(set(elements)) < len(elements):
            raise ParameterError(
                f"{self.name} = {reprlib.repr(value)}: expected {self.expected}, each once"
            )
        return value

    def _is_allowed(self, element) -> bool:
        try:
            return _is_allowed(element, self.allowed)
        # an end of the range that is no number, or text compared with a number
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"parameters cell: [{self.allowed}] of {self.name} is no range of numbers"
            ) from error


def read_parameters(cells: list[dict]) -> dict[str, Parameter]:
    """Return the parameters of a chapter by name, in the order of its cell.

    Raises
    ------
    ParameterError
        If the cell cannot be read; or if these are the cells of a notebook that was executed with
        values of its own, as they would be set whatever is asked for.
    """
    if any(INJECTED in cell["metadata"].get("tags", []) for cell in cells):
        raise ParameterError(
            f"a chapter has no cell tagged {INJECTED!r}, as this notebook that was executed with "
            "values of its own: remove the cell, or restore the chapter with `git checkout`"
        )
    tagged = [cell for cell in cells if TAG in cell["metadata"].get("tags", [])]
    if len(tagged) != 1:
        raise ParameterError(f"a chapter has one cell tagged {TAG!r}; found {len(tagged)}")
    return parse_cell(tagged[0]["source"])


def parse_cell(source: str) -> dict[str, Parameter]:
    """Return the parameters that the source of a parameters cell declares."""
    try:
        with PARSING:
            statements = ast.parse(source).body
            comments = _comments_by_line(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise ParameterError(f"parameters cell: not Python: {error}") from error
    parameters = {}
    for statement in statements:
        parameter = _parse_statement(statement, comments)
        if parameter.name in parameters:
            raise ParameterError(f"parameters cell: {parameter.name} is set twice")
        parameter.check(parameter.default)
        parameters[parameter.name] = parameter
    return parameters


def _parse_statement(node: ast.stmt, comments: dict[int, str]) -> Parameter:
    """Return the parameter that a statement of a parameters cell declares."""
    is_annotated = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    if not is_annotated or node.value is None:
        raise ParameterError(
            f"parameters cell, line {node.lineno}: "
            "write `name: type = literal  # meaning [allowed]`"
        )
    name = node.target.id
    type_ = ast.unparse(node.annotation)
    known_types = SCALARS + LISTS
    if any(option.strip() not in known_types for option in type_.split("|")):
        raise ParameterError(
            f"parameters cell: {name} has type {type_}; known are {', '.join(known_types)}"
        )
    try:
        default = ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise ParameterError(f"parameters cell: the value of {name} must be a literal") from error
    # A literal of several lines may have its comment beside the last of them or the first.
    comment = comments.get(node.end_lineno, comments.get(node.lineno, ""))
    meaning, allowed = re.fullmatch(r"(.*?)\s*(?:\[([^\[\]]*)\])?", comment).groups()
    return Parameter(
        name=name,
        type=type_,
        default=default,
        meaning=meaning,
        allowed=(allowed or "").strip(),
    )


def _comments_by_line(source: str) -> dict[int, str]:
    comments = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line_number, _ = token.start
            comments[line_number] = token.string.lstrip("#").strip()
    return comments


def _element_type(list_type: str) -> str:
    return list_type.removeprefix("list[").removesuffix("]")


def _has_type(value, option: str) -> bool:
    """Whether a value is of a type of a parameter; an int is a float, too, True is no number."""
    if option in LISTS:
        element_type = _element_type(option)
        is_list = isinstance(value, list | tuple)
        return is_list and all(_has_type(element, element_type) for element in value)
    if option == "None":
        return value is None
    if option == "bool":
        return isinstance(value, bool)
    if option == "str":
        return isinstance(value, str) and not SURROGATE.search(value)
    if isinstance(value, bool) or not isinstance(value, int if option == "int" else int | float):
        return False
    return abs(value) <= sys.float_info.max  # neither NaN nor infinite


def _convert(value, option: str):
    if option in LISTS:
        element_type = _element_type(option)
        return [_convert(element, element_type) for element in value]
    return float(value) if option == "float" else value


def _is_allowed(value, allowed: str) -> bool:
    """Whether a value is one of the choices or in the range, as the parameters cell has them."""
    if not allowed:
        return True
    match = RANGE.fullmatch(allowed)
    if match is None:
        return str(value) in [choice.strip() for choice in allowed.split("|")]
    lower = float(match["lower"] or -math.inf)
    upper = float(match["upper"] or math.inf)
    is_above = lower < value if match["excludes_lower"] else lower <= value
    is_below = value < upper if match["excludes_upper"] else value <= upper
    return is_above and is_below


def check_values(parameters: dict[str, Parameter], *layers: dict) -> dict:
    """Return the checked values that the layers set, a later layer over an earlier one.

    Raises
    ------
    ParameterError
        For a name that is not a parameter (it names the nearest) or a value of the wrong type or
        out of range.
    """
    values = {}
    for layer in layers:
        for name, value in layer.items():
            if name not in parameters:
                raise ParameterError(f"no parameter {name!r}{nearest(str(name), list(parameters))}")
            values[name] = parameters[name].check(value)
    return values
