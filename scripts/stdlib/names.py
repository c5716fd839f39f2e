"""Makes the table of what the standard library defines: modules, their names, the members of their classes.

    python scripts/stdlib/names.py TYPESHED/stdlib > crates/harness-code/src/stdlib/names.txt

TYPESHED is a checkout or any package that carries it (`pip download --no-deps mypy` has it as
`mypy/typeshed`). Names of every platform and version count, and what the running interpreter has beside
them, so that a name missing from the table is missing everywhere. Only names are kept, no code.

Form: `>module`, then one line of plain names (`name=origin` for a class of another module, `~name` for what only
the interpreter has, mostly what the module imports for itself), then one line a class: `Name(base base) member member`.
"""

import ast
import importlib
import sys
import warnings
from pathlib import Path

LEFT_OUT = ("test", "idlelib", "lib2to3", "turtledemo", "antigravity", "this", "__main__", "_typeshed")


def modules(root: Path):
    for path in sorted(root.rglob("*.pyi")):
        parts = list(path.relative_to(root).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        if parts and parts[0] not in LEFT_OUT:
            yield ".".join(parts), path


def statements(body):
    """Every statement of a body, branches of every platform and version included."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from statements(node.body)
            yield from statements(node.orelse)
        elif isinstance(node, ast.Try):
            yield from statements(node.body)
            for handler in node.handlers:
                yield from statements(handler.body)


def bound(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id
    elif isinstance(node, ast.TypeAlias) if hasattr(ast, "TypeAlias") else False:
        yield node.name.id


def listed(node):
    """What a statement puts into `__all__`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
        return set()
    values = node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else []
    return {value.value for value in values if isinstance(value, ast.Constant)}


def dotted(node):
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return inner and f"{inner}.{node.attr}"
    return None


class Module:
    def __init__(self, name, path):
        self.name = name
        self.package = name if path.name == "__init__.pyi" else name.rpartition(".")[0]
        self.names, self.classes, self.origins, self.stars = set(), {}, {}, []
        for node in statements(ast.parse(path.read_text(encoding="utf-8")).body):
            self.names.update(bound(node))
            if isinstance(node, ast.ClassDef):
                members = self.classes.setdefault(node.name, ([], set()))
                members[0].extend(filter(None, map(dotted, node.bases)))
                for inner in statements(node.body):
                    members[1].update(bound(inner))
            elif isinstance(node, ast.ImportFrom):
                source = self.absolute(node)
                for alias in node.names:
                    if alias.name == "*":
                        self.stars.append(source)
                    else:
                        # A stub gives an imported name out only when it says so.
                        if alias.asname == alias.name:
                            self.names.add(alias.name)
                        self.origins[alias.asname or alias.name] = f"{source}.{alias.name}"
            elif isinstance(node, (ast.Assign, ast.AugAssign)) and listed(node):
                self.names.update(listed(node))
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    self.origins[alias.asname or alias.name.split(".")[0]] = alias.asname and alias.name or alias.name.split(".")[0]

    def absolute(self, node):
        if not node.level:
            return node.module
        parts = self.package.split(".")
        parts = parts[: len(parts) - node.level + 1]
        return ".".join(parts + ([node.module] if node.module else []))


def from_interpreter(name):
    """What the running interpreter has in a module: its names and, for its own classes, their members."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module(name)
    except Exception:
        return set(), {}
    classes = {}
    for key, value in vars(module).items():
        if isinstance(value, type) and value.__module__ in (name, "builtins") and key == value.__name__:
            bases = [base.__qualname__ if base.__module__ in (name, "builtins") else f"{base.__module__}.{base.__qualname__}" for base in value.__bases__ if base is not object]
            classes[key] = (bases, set(vars(value)))
    return {name for name in dir(module) if name.isidentifier()}, classes


def main(root):
    table = {name: Module(name, path) for name, path in modules(Path(root))}
    for name, module in table.items():
        for star in module.stars:
            if star in table:
                module.names |= {other for other in table[star].names if not other.startswith("_")}
                for other in table[star].names:
                    module.origins.setdefault(other, f"{star}.{other}")
        names, classes = from_interpreter(name)
        module.only_here = names - module.names
        module.names |= names
        module.names.discard("__all__")
        for key, (bases, members) in classes.items():
            own = module.classes.setdefault(key, (bases, set()))
            own[1].update(members)
        module.names.update(child.rpartition(".")[2] for child in table if child.rpartition(".")[0] == name)
    for name, module in sorted(table.items()):
        print(f">{name}")
        dull = {"__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__", "__path__"}
        plain = []
        for other in sorted(module.names - dull - set(module.classes)):
            origin = module.origins.get(other)
            if origin and not origin.startswith("_typeshed") and is_class(table, origin):
                plain.append(f"{other}={origin}")
            else:
                plain.append(f"~{other}" if other in module.only_here else other)
        print(" ".join(plain))
        for key, (bases, members) in sorted(module.classes.items()):
            written = [module.origins.get(base, base) if "." not in base else qualified(module, base) for base in bases]
            ordered = list(dict.fromkeys(base for base in written if base))
            print(f"{key}({' '.join(ordered)}) {' '.join(sorted(filter(told, members)))}")


def told(member):
    """Special methods are on every class; only the one that answers for any name matters."""
    return member == "__getattr__" or not (member.startswith("__") and member.endswith("__"))


def qualified(module, base):
    first, _, rest = base.partition(".")
    return f"{module.origins.get(first, first)}.{rest}"


def is_class(table, origin):
    module, _, name = origin.rpartition(".")
    return module in table and (name in table[module].classes or table[module].origins.get(name))


if __name__ == "__main__":
    main(sys.argv[1])
