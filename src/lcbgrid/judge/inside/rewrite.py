"""Sources as the official runner would shape them (judge specification, section 5.3 and 5.4).

Works on the syntax tree, in the process that only compiles. The star imports that the official
runner writes in front are not repeated here, because those names are there already; a statement
that does nothing stands for them, since it matters that *something* comes first.
"""

from __future__ import annotations

import ast

ENTRY = "__whole_program__"


def shaped(source: bytes, shape: str) -> ast.Module | bytes:
    """Return what has to be compiled: a tree, or the source itself if it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    tree.body = _one_function(tree.body) if shape == "official-stdin" else [_first(), *tree.body]
    return ast.fix_missing_locations(tree)


def _first() -> ast.stmt:
    return ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def _one_function(body: list[ast.stmt]) -> list[ast.stmt]:
    """Make a function of all statements but the imports, which stay outside and come first."""
    if body and isinstance(body[-1], ast.If) and _is_main_guard(body[-1].test):
        body = [*body[:-1], *body[-1].body]
    imports = [each for each in body if isinstance(each, (ast.Import, ast.ImportFrom))]
    others = [each for each in body if not isinstance(each, (ast.Import, ast.ImportFrom))]
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.FunctionDef(
        name=ENTRY, args=nothing, body=others, decorator_list=[], lineno=1, col_offset=0
    )
    if not others:
        # A function without a body does not compile, and that is what happens officially.
        message = "the program has no statements besides imports"
        raise SyntaxError(message)
    return [_first(), *imports, function]


def _is_main_guard(test: ast.expr) -> bool:
    return ast.unparse(test) == "__name__ == '__main__'"
