"""A model that knows a commit and answers only what it is asked, from the words that it is shown.

It keeps to the longest reply, says what it cannot see, and reads a prompt as a stranger would: which file and line
stand above a piece of code, which name is asked for, which actions are offered. It never looks at the disk.
"""

import ast
import difflib
import random
import re
import textwrap

import units

SIGNS_A_TOKEN = 3.5
SHOWN = re.compile(r"^(\S+), line (\d+)(?: \([^\n]*\))?:\n(?:(`{3,})[^\n]*\n(.*?)\n\3)?", re.M | re.S)
ASKED = re.compile(r"Write the whole new code of `([^`]+)`")
NEW_FILE = re.compile(r"^(\S+) is a new file", re.M)
HOME = re.compile(r"^(?:It goes into the class \S+ )?(\S+) has:$", re.M)
CUT = "Your reply was cut"


def names_in(text):
    return set(re.findall(r"[A-Za-z_]\w*", text))


class Oracle:
    def __init__(self, case):
        self.files = case["files"]
        self.places = [place for path, one in self.files.items() for place in units.places(path, one["before"], one["after"])]
        self.calls, self.longest, self.log, self.rest = 0, 0, [], ""
        self.dropped = set()

    # What it says.

    def reply(self, messages, most):
        """The reply to a conversation, no longer than it may be, and whether it was cut."""
        self.calls += 1
        prompt = sum(len(message["content"]) for message in messages)
        self.longest = max(self.longest, round(prompt / 4))
        last = messages[-1]["content"]
        text = self.rest if CUT in last else self.answer(messages, most)
        room = int(most * SIGNS_A_TOKEN)
        cut, self.rest = len(text) > room, text[room:]
        self.log.append({"messages": messages, "reply": text[:room]})
        return text[:room], cut

    def answer(self, messages, most):
        last = messages[-1]["content"]
        said = [message["content"] for message in messages if message["role"] == "assistant"]
        self.dropped = set()
        for at, message in enumerate(messages):
            content = message["content"]
            if message["role"] == "user" and ("was taken back" in content or content.startswith("Refused:")):
                # A reply that was cut has several parts.
                while at > 0 and messages[at - 1]["role"] == "assistant":
                    self.dropped.add(messages[at - 1]["content"])
                    at -= 2
                    if not messages[at]["content"].startswith("Your reply was cut"):
                        break
        if re.search(r"(?i)\blist every place", last):
            problems = re.findall(r"There is no `([^`]+)`|There is no (\S+?)[;.]", last)
            unknown = {one or other for one, other in problems}
            return self.listing([place for place in self.listed() if (place.name or "imports") not in unknown])
        if "What of the task is not done yet" in last:
            missing = [place for place in self.listed() if not self.is_in_diff(place, last)]
            return self.listing(missing) if missing else "nothing"
        if "only the lines that change there" in last:
            return self.lines_of(last, messages)
        if asked := ASKED.search(last):
            return self.code_of(asked[1], last, most, messages)
        if new := NEW_FILE.search(last):
            if new[1] in self.files:
                return fenced(new[1], self.files[new[1]]["after"] or "")
        shown = [(match[1], int(match[2]), match[4] or "") for match in SHOWN.finditer(last)]
        for path, _, code in shown:
            place = self.changed_place(path, code)
            if place and not self.is_said(place, said):
                return self.whole(place, said)
        if (home := HOME.search(last)) and home[1] in self.files:
            if text := self.new_parts(home[1], said):
                return fenced(home[1], text)
        return self.look_further(messages, said)

    def listed(self):
        """The places that a person would name: changed import lines go along with what uses them."""
        return [place for place in self.places if not self.is_comment(place) and (place.name or place.state.endswith("file") or not self.is_imports_only(place))]

    def is_comment(self, place):
        """Whether nothing but comments and blanks changes."""
        if place.state != "changed" or not place.name or units.language(place.path) != "python":
            return False
        before = self.files[place.path]["before"]
        old = next(one for one in units.units(place.path, before) if one.name == place.name).text(before.splitlines(keepends=True))
        try:
            return ast.dump(ast.parse(textwrap.dedent(old))) == ast.dump(ast.parse(textwrap.dedent(place.text)))
        except SyntaxError:
            return False

    def listing(self, places):
        lines = []
        for place in places:
            new = "new " if place.state.startswith("new") else ""
            what = "remove it" if place.state.startswith("removed") else "as the task says"
            lines.append(f"{place.path}: {new}{place.name or 'module'}: {what}")
        return "\n".join(lines) or "nothing"

    def code_of(self, name, last, most, messages):
        said = [message["content"] for message in messages if message["role"] == "assistant"]
        shown = [(match[1], match[4] or "") for match in SHOWN.finditer(last)]
        paths = [path for path, _ in shown] + [match[1] for match in HOME.finditer(last)] + [match[1] for match in NEW_FILE.finditer(last)]
        paths += re.findall(r"` in (\S+?)[:.]?(?:\s|$)", last)
        if name in self.files:
            return fenced(name, self.files[name]["after"] or "")
        for path in paths:
            if path in self.files and self.files[path]["before"] is None:
                return fenced(path, self.files[path]["after"])
            here = [place for place in self.places if place.path == path]
            exact = [place for place in here if place.name == name]
            if places := exact or [place for place in here if place.name.endswith("." + name)]:
                return self.whole(places[0], said)
            if path in self.files and self.files[path]["after"]:
                source = self.files[path]["after"]
                for one in units.units(path, source):
                    if one.name == name or one.name.endswith("." + name):
                        return fenced(path, one.text(source.splitlines(keepends=True)))
        for _, code in shown:
            return f"```\n{code}\n```"
        return self.look_further(messages, said)

    def lines_of(self, last, messages):
        """The changed lines of what is shown, as far as they can be seen; what is left out is read first."""
        match = SHOWN.search(last)
        seen = "\n".join(message["content"] for message in messages if message["role"] != "assistant")
        said = [message["content"] for message in messages if message["role"] == "assistant"]
        place = self.changed_place(match[1], match[4] or "") if match else None
        if not place and (named := re.match(r"Now `([^`]+)` in (\S+?):", last)):
            # Its code was left out later to save room; what it is called stays.
            place = next((one for one in self.places if (one.name, one.path) == named.groups() and one.state == "changed"), None)
        if match and not place and int(match[2]) == 1:
            place = next((one for one in self.places if one.path == match[1] and not one.name), None)
        if not place:
            return self.look_further([message for message in messages if message["content"] != last], said)
        if self.files[place.path]["before"] is None:
            # The file is of our own making: it is written anew.
            return f"{place.path}\n" + fenced(place.path, self.files[place.path]["after"])
        hunks = self.hunks(place)
        for old, _ in hunks:
            if old.strip() not in seen:
                before = self.files[place.path]["before"]
                number = before[: before.index(old)].count("\n") + 1
                read = f"Action: read\nPath: {place.path}\nName: {number}"
                if read not in said:
                    return read
        pairs = "\n".join(f"Find:\n{old}\nReplace:\n{new}" for old, new in hunks)
        return f"Action: patch\nPath: {place.path}\n{pairs}"

    def whole(self, place, said):
        """The new text of a place, with the imports and new parts of its file that it uses."""
        if place.state == "removed":
            return "```\n```"
        source = self.files[place.path]["after"]
        used, parts = names_in(place.text), []
        for other in self.places:
            # A function may be called like the method at hand, which calls itself or another one.
            top = "." not in other.name and other.name != place.name.rpartition(".")[2]
            if other is not place and other.path == place.path and other.state == "new" and top and other.name in used and not self.is_said(other, said):
                parts.append(other.text)
                used |= names_in(other.text)
        imports = [line for line in self.new_imports(place.path) if names_in(line) & used and not any(line in reply for reply in said)]
        body = "\n\n".join(part.rstrip("\n") for part in [*parts, place.text])
        del source
        return fenced(place.path, "\n".join(imports) + ("\n\n" if imports else "") + body + "\n")

    def new_parts(self, path, said):
        """Everything new of a file, with its new imports."""
        parts = [place for place in self.places if place.path == path and place.state == "new" and not self.is_said(place, said)]
        if not parts:
            return ""
        used = set().union(*(names_in(place.text) for place in parts))
        imports = [line for line in self.new_imports(path) if names_in(line) & used]
        tops = [place.text for place in parts if "." not in place.name]
        inside = [place for place in parts if "." in place.name]
        if inside and not tops:
            return "\n".join(imports) + ("\n\n" if imports else "") + "\n".join(place.text for place in inside)
        return "\n".join(imports) + ("\n\n" if imports else "") + "\n\n".join(tops)

    def new_imports(self, path):
        one = self.files[path]
        old = set((one["before"] or "").splitlines())
        is_import = re.compile(r"^(?:import|from|use|const .*require\()\b")
        return [line for line in (one["after"] or "").splitlines() if is_import.match(line) and line not in old and not line.endswith("(")]

    # What it sees.

    def changed_place(self, path, code):
        """What a shown piece of code becomes, where the commit changes it or something inside it."""
        if path not in self.files or not self.files[path]["before"] or not self.files[path]["after"]:
            return None
        before, after = (self.files[path][state].splitlines(keepends=True) for state in ("before", "after"))
        head = first_line(code)
        is_now = {one.name: one for one in units.units(path, "".join(after))}
        # A method may stand in the first lines of its class.
        for one in sorted(units.units(path, "".join(before)), key=lambda one: one.last - one.first):
            text = one.text(before)
            is_shown = text.strip() == code.strip() or head and any(line.strip() == head for line in text.splitlines()[:6])
            if is_shown and one.name in is_now and text != is_now[one.name].text(after):
                return units.Place(path, one.name, "changed", is_now[one.name].text(after))
        return None

    def is_said(self, place, said):
        text = place.text.strip()
        said = [reply for reply in said if reply not in self.dropped]
        if bool(text) and any(text in reply or dedented(text) in reply for reply in said):
            return True
        hunks = self.hunks(place) if place.state == "changed" else []
        return bool(hunks) and all(any(old in reply and new in reply for reply in said) for old, new in hunks)

    def is_imports_only(self, place):
        one = self.files[place.path]
        try:
            old, new = (units.rest(one[state], units.units(place.path, one[state])) for state in ("before", "after"))
        except (SyntaxError, ValueError):
            return False
        lines = [line[1:] for line in difflib.ndiff(old.splitlines(), new.splitlines()) if line[0] in "+-"]
        return all(re.match(r"^\s*(import|from|use|#|//|\)|\w+,?$|\(|\"|'|$)", line.strip()) for line in lines)

    def is_in_diff(self, place, words):
        """Whether every line that a place adds stands in the diff that is shown."""
        one = self.files[place.path]
        old = (one["before"] or "").splitlines()
        added = {line[1:].strip() for line in words.splitlines() if line.startswith("+")}
        gone = {line[1:].strip() for line in words.splitlines() if line.startswith("-")}
        if place.state.startswith("removed"):
            names = [line.strip() for line in old if re.search(rf"\b{re.escape(place.name.rpartition('.')[2])}\b", line)]
            return any(line in gone for line in names) or not place.name
        lines = [line.strip() for line in place.text.splitlines() if line.strip() and line not in old]
        # A change may be that lines go.
        left = [line.strip() for before, after in self.hunks(place) for line in before.splitlines() if line not in after.splitlines()] if place.state == "changed" and not lines else []
        return all(line in added for line in lines) and all(line in gone for line in left if line)

    def look_further(self, messages, said):
        """What a model does that was not shown what must change: it reads it, or patches what it has read."""
        seen = "\n".join(message["content"] for message in messages if message["role"] != "assistant")
        if said and said[-1].startswith("Action: read"):
            # What it wanted to see is shown: now for what it was asked.
            asked = [message for message in messages if message["role"] == "user" and "only the lines that change there" in message["content"]]
            if asked and (text := self.lines_of(asked[-1]["content"], messages)) not in said:
                return text
        can_patch, can_read = "Action: patch" in seen, "Action: read" in seen
        pending = [place for place in self.listed() if not self.is_said(place, said) or place.state.startswith("removed")]
        if "list the places that must change" in seen and pending:
            listing = self.listing(pending)
            if listing not in said:
                return listing
        for place in self.places:
            if place.state != "changed" or self.is_said(place, said):
                continue
            hunks = [hunk for hunk in self.hunks(place) if not any(hunk[0] in reply and hunk[1] in reply for reply in said)]
            visible = [hunk for hunk in hunks if hunk[0].strip() in seen]
            if can_patch and visible:
                old, new = visible[0]
                return f"Action: patch\nPath: {place.path}\nFind:\n{old}\nReplace:\n{new}"
            read = f"Action: read\nPath: {place.path}\nName: {place.name}"
            if can_read and hunks and place.name and read not in said:
                return read
            if can_read and hunks:
                before = self.files[place.path]["before"]
                number = before[: before.index(hunks[0][0])].count("\n") + 1
                read = f"Action: read\nPath: {place.path}\nName: {number}"
                if read not in said:
                    return read
        for place in self.places:
            if place.state.startswith("new") and not self.is_said(place, said):
                text = self.files[place.path]["after"] if place.state == "new file" else self.new_parts(place.path, said)
                return f"{place.path}\n" + fenced(place.path, text)
        return "Action: done\nSummary: it is done"

    def hunks(self, place):
        """Passages of a place as it was, each found once in its file, and what stands there afterwards."""
        one = self.files[place.path]
        old, new = one["before"].splitlines(), (one["after"] or "").splitlines()
        bounds = [(part.first - 1, part.last) for part in units.units(place.path, one["before"]) if part.name == place.name]
        start, end = bounds[0] if bounds else (0, len(old))
        groups = difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(0)
        inside = [group for group in groups if start <= group[0][1] and group[-1][2] <= end]
        # What stands in a part that is a place of its own is written there.
        known = {other.name for other in self.places if other.path == place.path}
        parts = [(part.first - 1, part.last) for part in units.units(place.path, one["before"]) if not place.name or part.name.startswith(f"{place.name}.") and part.name in known]
        if parts:
            # What comes between two parts belongs to none of them.
            inside = [group for group in inside if not any(first <= group[0][1] and group[-1][2] <= last and (group[0][1] < group[-1][2] or first < group[0][1] < last) for first, last in parts)]
        spans = [(group[0][1], group[-1][2], group[0][3], group[-1][4]) for group in inside]
        if len(spans) > 1 and place.name:
            whole = (spans[0][0], spans[-1][1], spans[0][2], spans[-1][3])
            if len("\n".join(old[whole[0] : whole[1]] + new[whole[2] : whole[3]])) < 2_000:
                spans = [whole]
        found = []
        for first, last, to_first, to_last in spans:
            while (first == last or one["before"].count("\n".join(old[first:last])) > 1) and (first > 0 or last < len(old)):
                if first > 0:
                    first, to_first = first - 1, to_first - 1
                if last < len(old):
                    last, to_last = last + 1, to_last + 1
            found.append(("\n".join(old[first:last]), "\n".join(new[to_first:to_last])))
        return found

    def choose(self, question):
        """The answer to a question with options: the one that names what the commit changes, else a place in words."""
        options = re.findall(r"^  \d\. (.+)$", question, re.M)
        symbols = {option: option.partition(" in ")[0].strip("`") for option in options if " in " in option}
        for place in self.listed():
            for option, symbol in symbols.items():
                if place.name and symbol in (place.name, place.name.rpartition(".")[2]):
                    return option
        for place in self.listed():
            for option, symbol in symbols.items():
                if "." in place.name and symbol == place.name.rpartition(".")[0] and option.endswith(place.path):
                    return option
        files = [place.path for place in self.listed()]
        options = [option for option in options if option in files]
        if options:
            return max(options, key=files.count)
        place = self.listed()[0]
        return f"{place.name} in {place.path}" if place.name else place.path


class Clumsy(Oracle):
    """The same, and now and then what small models do: prose, tabs of the wrong width, whole files, a wrong answer."""

    def __init__(self, case, seed):
        super().__init__(case)
        self.random = random.Random(f"{seed}{case['id']}")
        self.forgotten = self.random.choice(self.listed()) if len(self.listed()) > 1 else None
        self.wrong = 0

    def listing(self, places):
        if self.forgotten in places and len(places) > 1:
            places, self.forgotten = [place for place in places if place is not self.forgotten], None
        return super().listing(places)

    def answer(self, messages, most):
        text = super().answer(messages, most)
        match = re.fullmatch(r"(?:(\S+)\n)?```(\w*)\n(.*)\n```", text, re.S)
        if not match:
            return text
        code = match[3]
        way = self.random.choice(["plain", "prose", "deeper", "whole", "imports", "wrong", "wrong"])
        if way == "wrong" and self.wrong < self.calls / 3:
            self.wrong += 1
            lines = code.splitlines()
            del lines[self.random.randrange(len(lines))]
            code = "\n".join(lines)
        elif way == "deeper" and match[2] == "python":
            code = "\n".join("    " + line if line.strip() else line for line in code.splitlines())
        elif way == "imports":
            code = "\n".join(line for line in code.splitlines() if not re.match(r"(import|from) ", line)).strip("\n")
        elif way == "whole":
            for one in self.files.values():
                if one["after"] and code.strip() in one["after"] and len(one["after"]) < most * SIGNS_A_TOKEN:
                    code = one["after"].rstrip("\n")
                    break
        head = f"{match[1]}\n" if match[1] else ""
        block = f"{head}```{match[2]}\n{code}\n```"
        if way == "prose":
            return f"Sure! Here is what I would change, step by step.\n\n1. I looked at the code.\n2. I changed it:\n\n{block}\n\nLet me know if that helps."
        return block


def fenced(path, text):
    fence = "````" if "```" in text else "```"
    return f"{fence}{units.language(path) or ''}\n{text.rstrip()}\n{fence}"


def first_line(code):
    for line in code.splitlines():
        if line.strip() and not line.strip().startswith(("#", "//", "@")):
            return line.strip()
    return ""


def dedented(text):
    return textwrap.dedent(text).strip()
