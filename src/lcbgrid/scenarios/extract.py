"""Finding the program in a model's reply.

The rules are those of the teams specification, section 7, with its listed defects mended:
thinking is removed everywhere; ``python3``, attributes after the label, tilde fences and indented
blocks are known; comment-only programs and plain data are no programs; a block with the needed
entry point beats a later usage example; an unterminated last fence means that the reply was cut.
The choice of the official LiveCodeBench runner is kept beside ours when the two differ.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from lcbgrid.scenarios.fences import Block, fence_lines, find_blocks, find_inline, split_lines

_MOST_REJOINED = 8  # a reply that goes round in circles must not cost minutes
_CLOSE_THINK = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OPEN_THINK = re.compile(r"<think(?:ing)?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The outcome of a search for a program.

    Attributes:
        code: The program, or ``None``.
        method: Which rule found it: ``labelled``, ``bare``, ``inline``, ``nested_fence``,
            ``lone_fence``, ``whole_text``, ``unterminated``, ``unparsable`` (a labelled block that
            is no program: no code) or ``none``.
        truncated: The reply ends inside an open fence, or inside its thinking.
        official_code: What the official runner would have taken, if that differs.
    """

    code: str | None
    method: str
    truncated: bool = False
    official_code: str | None = None


@functools.lru_cache(maxsize=64)  # teams look into a reply for the hand-off, the vote, the record
def extract(text: str | None, *, fn_name: str | None = None) -> Extraction:
    """Find the program in a reply.

    Args:
        text: The reply; ``None`` counts as empty.
        fn_name: Name of the function that a functional problem needs; a block that defines it is
            preferred to a later one that does not.
    """
    full = text or ""
    official = official_code(full)
    visible, open_thinking = strip_thinking(full)
    blocks = find_blocks(visible)
    cut = open_thinking or (bool(blocks) and not blocks[-1].closed and not _is_lone(blocks))
    code, method = _search(visible, blocks, fn_name)
    other = official if (official or None) != code else None
    return Extraction(code, method, cut, other)


def strip_thinking(text: str) -> tuple[str, bool]:
    """Return what follows the last closing thinking tag, and whether thinking was left open.

    No opening tag is needed. An opening tag without a closing one hides the rest of the reply.
    """
    closes = list(_CLOSE_THINK.finditer(text))
    rest = text[closes[-1].end() :] if closes else text
    opened = _OPEN_THINK.search(rest)
    if opened:
        return rest[: opened.start()], True
    return rest, False


def official_code(text: str) -> str:
    """Return the official runner's choice (judge specification, section 4).

    Every line that contains three backticks is a fence line; the program is what stands between
    the last but one and the last; with fewer than two it is empty.
    """
    lines = text.split("\n")
    fences = [index for index, line in enumerate(lines) if "```" in line]
    if len(fences) < 2:
        return ""
    return "\n".join(lines[fences[-2] + 1 : fences[-1]])


def is_program(code: str) -> bool:
    """True if the text is Python that does something.

    Comments alone, plain data (``[1, 2]``, ``{"a": 1}``, a lone word) and text that does not
    parse are no programs.
    """
    tree = _parse(code)
    return tree is not None and any(not _is_inert(node) for node in tree.body)


def defines(code: str, fn_name: str) -> bool:
    """True if the program defines the function, at top level or in a class."""
    tree = _parse(code)
    if tree is None:
        return False
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in tree.body:
        if isinstance(node, functions) and node.name == fn_name:
            return True
        if isinstance(node, ast.ClassDef) and any(
            isinstance(inner, functions) and inner.name == fn_name for inner in node.body
        ):
            return True
    return False


def _search(visible: str, blocks: list[Block], fn_name: str | None) -> tuple[str | None, str]:
    closed = [block for block in blocks if block.closed]
    labelled = [block.code for block in closed if block.is_python]
    bare = [block.code for block in closed if not block.label]
    unclosed = [b.code for b in blocks if not b.closed and (b.is_python or not b.label)]
    stages: list[tuple[str, Callable[[], list[str]]]] = [  # a later one runs only if needed
        ("labelled", lambda: labelled),
        ("bare", lambda: bare),
        ("inline", lambda: find_inline(visible)),
        ("nested_fence", lambda: _rejoined(visible, blocks)),
        ("lone_fence", lambda: _before_lone_fence(visible, blocks)),
        ("unterminated", lambda: unclosed),
        ("whole_text", lambda: [] if blocks else [visible.strip()]),
    ]
    fallback: tuple[str | None, str] = (None, "none")
    for method, candidates in stages:
        programs = [code for code in candidates() if is_program(code)]
        if not programs:
            continue
        if fn_name is None:
            return programs[-1], method
        fitting = [code for code in programs if defines(code, fn_name)]
        if fitting:
            return fitting[-1], method
        if fallback[0] is None:
            fallback = (programs[-1], method)
    if fallback[0] is None and any(labelled):
        return None, "unparsable"
    return fallback


def _rejoined(text: str, blocks: list[Block]) -> list[str]:
    """Programs that hold a fence line themselves, as in a docstring.

    A labelled block that does not parse is extended to later fence lines until it does.
    """
    lines = split_lines(text)
    fences = fence_lines(lines)
    found = []
    broken = [block for block in blocks if block.is_python and not is_program(block.code)]
    for block in broken[-_MOST_REJOINED:]:
        later = (index for index in fences if index > block.last_line)
        for end in itertools.islice(later, _MOST_REJOINED):
            code = "\n".join(lines[block.first_line + 1 : end]).strip("\n").rstrip()
            if is_program(code):
                found.append(code)
                break
    return found


def _is_lone(blocks: list[Block]) -> bool:
    """True for a single fence with nothing behind it: it closes what stands before."""
    return len(blocks) == 1 and not blocks[0].closed and not blocks[0].code.strip()


def _before_lone_fence(text: str, blocks: list[Block]) -> list[str]:
    if not _is_lone(blocks):
        return []
    return ["\n".join(split_lines(text)[: blocks[0].first_line]).strip("\n").rstrip()]


@functools.lru_cache(maxsize=16)  # parsing is most of the cost of a reply, and is asked twice
def _parse(code: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a model's bad escapes are not our warnings
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_inert(node: ast.stmt) -> bool:
    """True for a statement that does nothing: a docstring, plain data, a lone name, ``pass``."""
    if isinstance(node, ast.Pass):
        return True
    if not isinstance(node, ast.Expr):
        return False
    inert = (
        ast.Constant,
        ast.Name,
        ast.List,
        ast.Tuple,
        ast.Set,
        ast.Dict,
        ast.UnaryOp,
        ast.unaryop,
        ast.expr_context,
    )
    return all(isinstance(inner, inert) for inner in ast.walk(node.value))
