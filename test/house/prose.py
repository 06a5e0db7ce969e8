#!/usr/bin/env python3
"""Prints the prose of the tree, one text on each line: FILE:LINE: TEXT.

prose.py comments|messages|sentences FILE...

`comments` are those of C sources and scripts, with consecutive lines joined. `messages` are the
string literals of C that contain at least two words. `sentences` are those of Markdown documents,
without code, names of tests, rules of tables and headings. Used by words.sh and dev/sample.
"""
import re
import sys


def c_tokens(text):
    """Yields (kind, offset, text) for the comments and string literals of C."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    for m in pattern.finditer(text):
        token = m.group()
        kind = "string" if token[0] == '"' else "char" if token[0] == "'" else "comment"
        yield kind, m.start(), token


def clean(comment):
    comment = re.sub(r"^/\*+|\*+/$|^//", "", comment)
    comment = re.sub(r"\n\s*\*? ?", " ", comment)
    return re.sub(r"\s+", " ", comment).strip(" -*")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def c_comments(text):
    for kind, at, token in c_tokens(text):
        if kind == "comment" and re.search(r"[a-z]{2} ", token):
            yield line_of(text, at), clean(token)


def c_messages(text):
    joined, start, end = "", 0, 0
    for kind, at, token in list(c_tokens(text)) + [("end", len(text), "")]:
        adjacent = joined and re.fullmatch(r"(\s|PRId64|PRIu64)*", text[end:at])
        if kind == "string" and adjacent:
            joined += token[1:-1]
        else:
            if re.search(r"[A-Za-z]{2,} [a-z]{2,}", joined):
                yield line_of(text, start), joined
            joined, start = (token[1:-1], at) if kind == "string" else ("", at)
        end = at + len(token)


def script_comments(text):
    block, first = [], 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        m = re.match(r"\s*# ?(.*)", line)
        if m and not line.startswith("#!"):
            if not block:
                first = number
            block.append(m.group(1))
        elif block:
            joined = " ".join(block).strip()
            if re.search(r"[a-z]{2} ", joined):
                yield first, joined
            block = []


def sentences(text):
    text = re.sub(r"```.*?```", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    text = re.sub(r"`(test/[^:`]*)(:[^`]*)`", lambda m: "`" + m[1] + "`" + "\n" * m[2].count("\n"), text)
    paragraph, first = [], 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        skip = re.match(r"( {4}|#|\s*$|\|[-: |]*$)", line)
        item = re.match(r"\s*([-*]|\d+\.|\|)\s", line)
        if (skip or item) and paragraph:
            for part in re.split(r"(?<=[.!?:])\s+(?=[A-Z`])|\|", " ".join(paragraph)):
                if re.search(r"[a-z]{2,} [a-z]{2,}", part):
                    yield first, part.strip(" -*|")
            paragraph = []
        if not skip:
            if not paragraph:
                first = number
            paragraph.append(line.strip())


def main():
    kind = sys.argv[1]
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8", errors="replace") as f:
            text = f.read()
        is_c = re.search(r"\.([chly]|cpp|hpp|in|m4|def)$", name)
        if kind == "sentences":
            found = sentences(text)
        elif kind == "messages":
            found = c_messages(text)
        else:
            found = c_comments(text) if is_c else script_comments(text)
        for line, prose in found:
            print(f"{name}:{line}: {prose}")


main()
