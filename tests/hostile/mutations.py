"""Seeded mutations: of bytes, of the values of a JSON file, and of the cells of a text."""

import copy
import json

# What is put in: planted code, paths and formulas among them, none of which may ever run.
PLANTED = [
    b"os:system", b"planted:run", b"../../../../etc/passwd", b"/dev/zero", b"=cmd()", b"@SUM(A1)",
    b"cos\nsystem\n(S'touch planted.ran'\ntR.", b"\x80\x04\x95", b"__import__('planted')",
]  # fmt: skip
ODD = [
    b"", b"\0", b"\xff", b"\n", b"\r", b'"', b",", b";", b"\t", b"NaN", b"inf", b"-1", b"1e999",
    b"1" * 400, b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b[2J", b"[", b"{", b"PK\x03\x04", b"\xff" * 8,
    b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80",
]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 2, 3.5, -0.5, 1e308, 1e-308, 2**31, 2**63 - 1, 2**70, "", "x",
    "0", "oko", "digits", "os:system", "planted:run", "../../etc/passwd", "/usr", "=cmd()", "\0",
    "\x1b[2J", "forest", "skops", "linear", "cnn", [], {}, [[]], [0], [0.5, 0.5], ["a", "b"],
    {"a": 1}, [None], "NaN", float("nan"), float("inf"), "x" * 5000, [0] * 3000,
]  # fmt: skip


def mutated_bytes(content, choice):
    """A few bytes changed, put in, cut out, doubled or cut off, most of all at the beginning."""
    damaged = bytearray(content)
    for _ in range(choice.randint(1, 4)):
        place = choice.randint(0, choice.choice([40, 400, max(len(damaged), 1)]))
        kind = choice.randrange(8)
        if kind <= 1 and place < len(damaged):
            damaged[place] = choice.randrange(256)
        elif kind == 2 and place < len(damaged):
            damaged[place] ^= 1 << choice.randrange(8)
        elif kind == 3:
            damaged[place:place] = choice.choice(ODD)
        elif kind == 4:
            damaged[place:place] = choice.choice(PLANTED)
        elif kind == 5:
            del damaged[place : place + choice.randint(1, 50)]
        elif kind == 6:
            part = damaged[place : place + choice.randint(1, 200)]
            damaged[place:place] = part * choice.choice([1, 1, 2, 50])
        elif choice.random() < 0.3:
            del damaged[place:]
    return bytes(damaged)


def mutated_json(content, choice):
    """One to three values of a JSON file replaced, removed or added; or its bytes changed."""
    if choice.random() < 0.2:
        return mutated_bytes(content, choice)
    values = json.loads(content)
    for _ in range(choice.randint(1, 3)):
        holder, key = _somewhere(values, choice)
        if holder is None:
            return json.dumps(choice.choice(VALUES)).encode()
        kind = choice.randrange(6)
        if kind == 0 and isinstance(holder, dict):
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            value = copy.deepcopy(choice.choice(VALUES))
            holder[choice.choice(["", "x", "format", "id", "\0"])] = value
        elif kind == 2 and isinstance(holder, list):
            holder.append(copy.deepcopy(choice.choice(VALUES)))
        elif kind == 3 and isinstance(holder[key], int | float):
            holder[key] = holder[key] * choice.choice([-1, 0, 2, 1e9, 1e-9]) + choice.choice([0, 1])
        else:
            holder[key] = copy.deepcopy(choice.choice(VALUES))
    return json.dumps(values).encode()


def _somewhere(values, choice):
    """A list or object of the file and one of its keys; the deeper, the rarer."""
    holder, key = None, None
    while isinstance(values, dict | list) and values and (holder is None or choice.random() < 0.8):
        holder = values
        key = choice.choice(list(holder)) if isinstance(holder, dict) else (
            choice.randrange(len(holder)))  # fmt: skip
        values = holder[key]
    return holder, key


def mutated_text(content, choice):
    """Cells and lines of a table replaced, doubled or removed; or bytes changed."""
    if choice.random() < 0.3:
        return mutated_bytes(content, choice)
    lines = [line.split(b",") for line in content.split(b"\n")]
    for _ in range(choice.randint(1, 5)):
        row = lines[choice.choice([0, choice.randrange(len(lines))])]
        kind = choice.randrange(6)
        if kind <= 2:
            row[choice.randrange(len(row))] = choice.choice([*ODD, *PLANTED, b"0.5", b"ill"])
        elif kind == 3:
            row.append(choice.choice([*ODD, b"u", b"y"]))
        elif kind == 4 and len(row) > 1:
            row.pop()
        else:
            lines.insert(choice.randrange(len(lines)), list(row))
    return b"\n".join(b",".join(line) for line in lines)
