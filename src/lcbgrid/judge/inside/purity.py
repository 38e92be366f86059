"""Does a program's text show that nothing of one call can reach the next one?

Asked of the syntax tree, in the process that only compiles. A program that passes may be run
many times in one process, each time executing its source anew in a fresh table of names. So what
has to be excluded is state that lives outside that table: in other modules, in the interpreter,
in files. The answer "no" costs time only, so every doubt is a "no".
"""

from __future__ import annotations

import ast
import sys

# Modules whose functions keep nothing between calls (`random` is seeded before each one).
_PURE = frozenset({
    "__future__", "abc", "array", "bisect", "cmath", "collections", "copy", "dataclasses",
    "datetime", "enum", "fractions", "functools", "heapq", "itertools", "json", "math",
    "numbers", "operator", "queue", "random", "re", "sortedcontainers", "statistics", "string",
    "textwrap", "typing",
})  # fmt: skip
# Names that lead out of the table of names, or to what lies behind it.
_FORBIDDEN = frozenset({
    "__builtins__", "__import__", "breakpoint", "builtins", "compile", "delattr", "eval", "exec",
    "exit", "get_type_hints", "getattr", "globals", "help", "input", "io", "memoryview", "open",
    "quit", "setattr", "stdin", "stdout", "stderr", "sys", "vars",
})  # fmt: skip
_PREPARED_MODULES = frozenset({
    "bisect", "collections", "copy", "datetime", "functools", "heapq", "itertools", "json",
    "math", "operator", "random", "re", "statistics", "string",
})  # fmt: skip
_SYS_USES = frozenset({"maxsize", "setrecursionlimit", "float_info"})
_DUNDERS = frozenset({
    "__add__", "__bool__", "__call__", "__contains__", "__eq__", "__ge__", "__getitem__",
    "__gt__", "__hash__", "__init__", "__iter__", "__le__", "__len__", "__lt__", "__mul__",
    "__ne__", "__neg__", "__next__", "__radd__", "__repr__", "__setitem__", "__str__",
    "__sub__", "__slots__", "__name__", "__post_init__",
})  # fmt: skip


def keeps_nothing(tree: ast.Module) -> bool:
    """Return whether the program can be run again in the same process as if it were the first."""
    modules, classes = _imported(tree)
    if modules is None:
        return False
    modules |= _PREPARED_MODULES
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return all(_harmless(node, parents.get(node), modules, classes) for node in ast.walk(tree))


def _imported(tree: ast.Module) -> tuple[set[str] | None, set[str]]:
    """Return names bound to modules and names taken out of them; no modules at all on doubt."""
    modules: set[str] = set()
    taken: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] not in _PURE and alias.name != "sys":
                    return None, taken
                if alias.name != "sys" or alias.asname:
                    modules.add(alias.asname or alias.name.partition(".")[0])
                if alias.name == "sys" and alias.asname:
                    return None, taken
        elif isinstance(node, ast.ImportFrom):
            origin = (node.module or "").partition(".")[0]
            if node.level or (origin not in _PURE and not _only_harmless_sys(origin, node)):
                return None, taken
            taken |= {alias.asname or alias.name for alias in node.names}
    return modules, taken


def _only_harmless_sys(origin: str, node: ast.ImportFrom) -> bool:
    return origin == "sys" and all(alias.name in _SYS_USES for alias in node.names)


def _harmless(node: ast.AST, parent: ast.AST | None, modules: set[str], taken: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return _harmless_name(node, parent, modules)
    if isinstance(node, ast.Attribute):
        if node.attr.startswith("_") and node.attr.endswith("__") and node.attr not in _DUNDERS:
            return False
        if node.attr == "register":
            return False  # adds to tables of the library
        base = node.value
        if isinstance(base, ast.Name) and base.id in modules and _leads_on(node.attr, base.id):
            return False
        changes = not isinstance(node.ctx, ast.Load)
        # A class of the library is shared by all calls; only the program's own may be changed.
        return not (changes and isinstance(base, ast.Name) and base.id in modules | taken)
    return not isinstance(node, (ast.AsyncFunctionDef, ast.Await))


def _leads_on(attribute: str, module: str) -> bool:
    """Whether an attribute of a module may be one of the modules that it has imported."""
    if attribute.startswith("_") or attribute == "bltns":
        return True
    return attribute in sys.stdlib_module_names and attribute not in (module, "abc")


def _harmless_name(node: ast.Name, parent: ast.AST | None, modules: set[str]) -> bool:
    whole = isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load)
    if node.id == "sys":
        return whole and parent.attr in _SYS_USES  # type: ignore[union-attr]
    if node.id in _FORBIDDEN:
        return False
    if node.id in modules and isinstance(node.ctx, ast.Load) and node.id not in _AMBIGUOUS:
        return whole  # a module under another name could be changed unseen
    return True


# Often used as variables of the program's own; as modules they hold functions only, and a
# change of one is seen where it is written as an attribute.
_AMBIGUOUS = frozenset({"string", "copy", "operator", "re"})
