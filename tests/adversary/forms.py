"""One change, written the way models write: `write(form, before, draft)` gives the replies that carry it.

A draft is path -> the whole file afterwards, None where it is to go. A form that cannot carry a draft (a definition
that is none, a deletion in JSON) falls back to one that can. Standard library only.
"""

import ast
import difflib
import json


def write(form, before, draft):
    """The replies that carry this draft in this form; most forms need one."""
    return FORMS[form](before, draft)


def dressed(reply, random, form):
    """The same reply with the words around it that models like."""
    before = ["", "", "", "Here is the change:\n\n", "<think>\nThe test wants something else. Let me look at the function.\n</think>\n", "Sure! I looked at the code and found the problem.\n\n"]
    after = ["", "", "", "\n\nThis makes all tests pass.", "\n\nLet me know if you need anything else!\n"]
    # After labelled lines it would be part of the last one.
    return random.choice(before) + reply + (random.choice(after) if form != "labels" else "")


def tag(path):
    return {"py": "python", "js": "javascript", "json": "json", "md": "markdown"}.get(path.rsplit(".", 1)[-1], "")


def blocks(before, draft):
    """Whole files under their paths."""
    if None in draft.values():
        return envelope(before, draft)
    return ["\n".join(f"{path}\n```{tag(path)}\n{text}```\n" for path, text in draft.items())]


def definition(before, draft):
    """Only the definitions that differ, without a path where there is one file."""
    if len(draft) != 1 or None in draft.values():
        return blocks(before, draft)
    [(path, text)] = draft.items()
    known = sources(before.get(path, ""))
    new = [source for name, source in sources(text).items() if known.get(name) != source]
    # What lies outside of definitions, or is gone, cannot be told this way.
    if not new or not path.endswith(".py") or set(known) - set(sources(text)) or rest(before.get(path, "")) != rest(text):
        return blocks(before, draft)
    return ["\n".join(f"```python\n{source}\n```\n" for source in new)]


def sources(text):
    """The definitions of a module by name, methods after their class, as they are written."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return {}
    found = {}
    for node in tree.body:
        for one in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found[f"{getattr(node, 'name', '')}.{one.name}"] = "\n".join(text.splitlines()[one.lineno - 1 : one.end_lineno])
    return found


def rest(text):
    for source in sources(text).values():
        text = text.replace(source, "")
    return text.split()


def diff(before, draft):
    return [f"```diff\n{unified(before, draft)}```\n"]


def bare_diff(before, draft):
    return [unified(before, draft)]


def unified(before, draft):
    parts = []
    for path, text in draft.items():
        old, new = before.get(path), text
        names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
        lines = difflib.unified_diff((old or "").splitlines(True), (new or "").splitlines(True), *names)
        parts += [line if line.endswith("\n") else line + "\n" for line in lines]
    return "".join(parts)


def passages(before, path, text):
    """The passages that differ, each with a line around it, as old and new text."""
    old, new = before.get(path, "").splitlines(True), text.splitlines(True)
    found = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(1):
        _, first, _, start, _ = group[0]
        _, _, last, _, end = group[-1]
        found.append(("".join(old[first:last]), "".join(new[start:end])))
    return found


def search_replace(before, draft):
    if None in draft.values():
        return diff(before, draft)
    parts = []
    for path, text in draft.items():
        for old, new in passages(before, path, text):
            parts.append(f"{path}\n```{tag(path)}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n")
    return ["\n".join(parts)]


def json_edit(before, draft):
    """One object a file, one file a reply."""
    if None in draft.values():
        return envelope(before, draft)
    return [json.dumps({"tool": "edit", "path": path, "content": text}) for path, text in draft.items()]


def json_patch(before, draft):
    if None in draft.values() or set(draft) - set(before):
        return json_edit(before, draft)
    calls = [{"tool": "patch", "path": path, "old": old, "new": new} for path, text in draft.items() for old, new in passages(before, path, text)]
    return ["```json\n" + json.dumps(call, indent=1) + "\n```" for call in calls]


def envelope(before, draft):
    lines = ["*** Begin Patch"]
    for path, text in draft.items():
        if text is None:
            lines.append(f"*** Delete File: {path}")
        elif path not in before:
            lines += [f"*** Add File: {path}", *("+" + line for line in text.splitlines())]
        else:
            lines.append(f"*** Update File: {path}")
            for line in unified({path: before[path]}, {path: text}).splitlines()[2:]:
                lines.append("@@" if line.startswith("@@") else line)
    return ["\n".join([*lines, "*** End Patch"]) + "\n"]


def labels(before, draft):
    """Labelled lines, one passage a reply."""
    if None in draft.values() or set(draft) - set(before):
        return json_edit(before, draft)
    return [f"**Action:** patch\nPath: {path}\nFind:\n{old}Replace:\n{new}" for path, text in draft.items() for old, new in passages(before, path, text)]


FORMS = {form.__name__: form for form in (definition, blocks, diff, bare_diff, search_replace, json_edit, json_patch, envelope, labels)}
# Those that carry several files in one reply.
WHOLE = ("blocks", "diff", "bare_diff", "search_replace", "envelope")
