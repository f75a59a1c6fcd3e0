#!/usr/bin/python3
"""A second implementation of format version 1, from doc/format.md.

It has written filters.tsv and keys.tsv, which the tests of the extension read, and
fixed values in test/unit; it shares nothing with src/ but the table of sizes.  The
files never change; without arguments this tells whether they are still what it
writes (make format-check), --write writes them.  Needs python3-xxhash.

filters.tsv: name, least PostgreSQL version, n, p, seed, SHA-256 of the portable
form, its base64.  keys.tsv: name of the filter, the key in SQL, its bfkey,
whether it was added, what the filter says of it.
"""

import base64
import hashlib
import math
import os
import re
import struct
import sys
from datetime import date, datetime

from xxhash import xxh3_64_intdigest as xxh3

MASK = 2**64 - 1

# ---- keys: (key type, h) ----


def le(number, size):
    return (number & (2 ** (8 * size) - 1)).to_bytes(size, "little")


def digest(data):
    return xxh3(data) >> 40 << 8


def scalar(key_class):
    return lambda data: (key_class, xxh3(data))


def number(value):
    return scalar(1)(le(value, 8) if isinstance(value, int) else b"numeric:" + value.encode())


def double(value):
    return scalar(2)(struct.pack("<d", value))


def text(value):
    return scalar(3)(value.encode())


def inet(version, prefix, address):
    return scalar(9)(bytes([version, prefix]) + bytes.fromhex(address))


def microseconds(*when):
    delta = datetime(*when) - datetime(2000, 1, 1)
    return (delta.days * 86400 + delta.seconds) * 10**6 + delta.microseconds


def timestamp(*when):
    return scalar(10)(le(microseconds(*when), 8))


def timestamptz(*when):
    return scalar(11)(le(microseconds(*when), 8))


def time(hour, minute, second, micro=0):
    return scalar(12)(le(((hour * 60 + minute) * 60 + second) * 10**6 + micro, 8))


def inner(key):
    return b"\0" if key is None else b"\1" + le(key[0], 4) + le(key[1], 8)


def array(element_type, dimensions, elements):
    data = le(len(dimensions), 4)
    for length, lower in dimensions:
        data += le(length, 4) + le(lower, 4)
    return (13 | digest(le(element_type, 4)), xxh3(data + b"".join(map(inner, elements))))


def record(*columns):
    """Columns are keys, or the key type alone of one that is NULL."""
    keys = [None if isinstance(column, int) else column for column in columns]
    types = [column if isinstance(column, int) else column[0] for column in columns]
    data = le(len(columns), 4) + b"".join(map(inner, keys))
    return (14 | digest(b"".join(le(t, 4) for t in types)), xxh3(data))


def range_(bound_type, flags, lower=None, upper=None):
    data = le(flags, 1) + (b"" if flags == 1 else inner(lower) + inner(upper))
    return (15 | digest(le(bound_type, 4)), xxh3(data))


def multirange(bound_type, *ranges):
    data = le(len(ranges), 4) + b"".join(le(r[1], 8) for r in ranges)
    return (16 | digest(le(bound_type, 4)), xxh3(data))


def other(name, result):
    """The result of the type's own hash function is taken from PostgreSQL: of these
    types it is the same on big-endian machines."""
    return (255 | digest(name.encode()), xxh3(le(result, 8)))


# ---- sizing ----

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
with open(os.path.join(ROOT, "src", "sizing_table.h")) as file:
    CELLS = re.findall(r"^\t\{(\d+), (\d+), (\d+), (\d+)\},$", file.read(), re.MULTILINE)
TABLE = [tuple(map(int, cell)) for cell in CELLS]


def bits_per_key(p):
    """In 1/65536 bit, with log2 of the block and k."""
    mantissa, exponent = math.frexp(p)
    mantissa = int(mantissa * 2**53)
    log = minus_log2(mantissa, exponent - 53)
    if log < 11 * 2**24 // 8:
        log = minus_log2(2 ** (53 - exponent) - mantissa, exponent - 53) - 1
        return (6196328019 << 8) // log + 1, 9, 1
    cell, fraction = divmod(log, 2**24 // 8)
    log_block, k, low, high = TABLE[cell - 11]
    return low + ((high - low) * fraction * 8 >> 24) + 1, log_block, k


def minus_log2(mantissa, exponent):
    """Of mantissa * 2^exponent in 1/2^24, up: the logarithm is rounded down, digit by digit."""
    shift = 64 - mantissa.bit_length()
    x, log = mantissa << shift, 0
    for _ in range(24):
        square = x * x >> 64
        log = log * 2 + (square >> 63)
        x = square if square >> 63 else square * 2
    return (shift - exponent - 63) * 2**24 - log


def layout(n, p):
    b, log_block, k = bits_per_key(p)
    needed = (n * b >> 16) + 2 + (k + 2) // 4
    block_bits = 2**log_block
    blocks = -(-needed // block_bits)
    if blocks < 128:
        block_bits = -(-needed // (blocks * 8)) * 8
    return blocks * block_bits, block_bits, k


# ---- filters ----


def fmix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


class Filter:
    def __init__(self, n, p, seed=0):
        self.n, self.p, self.seed, self.key_type = n, p, seed & MASK, 0
        self.m, self.block_bits, self.k = layout(n, p)
        self.bits = bytearray(self.m // 8)

    def positions(self, h):
        s = 0 if self.seed == 0 else fmix(self.seed)
        x = (h ^ s) * 0x9E3779B97F4A7C15 & MASK
        x ^= x >> 32
        base = (x * (self.m // self.block_bits) >> 64) * self.block_bits
        for _ in range(self.k):
            x = x * 0xF1357AEA2E62A9C5 & MASK
            yield base + ((x >> 32) * self.block_bits >> 32)

    def add(self, key):
        self.key_type = key[0]
        for bit in self.positions(key[1]):
            self.bits[bit // 8] |= 1 << bit % 8

    def contains(self, key):
        return all(self.bits[bit // 8] >> bit % 8 & 1 for bit in self.positions(key[1]))

    def portable(self):
        data = bytes([1, 1, 1, self.k])
        data += le(self.key_type, 4) + le(self.block_bits, 4) + le(self.n, 8)
        data += struct.pack("<d", self.p) + le(self.m, 8) + le(self.seed, 8) + bytes(16)
        data += self.bits
        return data + le(xxh3(data), 8)


# ---- what is in the files ----

SMALL = (8, 0.1, 0)

INTEGERS = [(f"{i}", number(i)) for i in range(1, 31)]
CAFE = r"U&'caf\00e9'"
A_DAY = other("interval", 8030965169264967180)
DATE = timestamp(2024, 1, 2)
END = 2**63 - 1

# name, least PostgreSQL version, (n, p, seed), keys that are added, others
FILTERS = [
    ("empty", 13, SMALL, [], [("1", number(1)), ("'apple'", text("apple")), ("ARRAY[1]", array(1, [(1, 1)], [number(1)]))]),
    ("number", 13, SMALL, [
        ("1::int2", number(1)), ("-5::int4", number(-5)), ("9223372036854775807::int8", number(2**63 - 1)),
        ("'-9223372036854775808'::int8", number(-(2**63))), ("7.00::numeric", number(7)), ("1.50::numeric", number("1.5")),
        ("'NaN'::numeric", number("NaN")), ("1e30::numeric", number("1" + "0" * 30)), ("-0.25::numeric", number("-0.25")),
    ], INTEGERS[9:]),
    ("infinite number", 14, SMALL, [("'Infinity'::numeric", number("Infinity"))],
        [("'-Infinity'::numeric", number("-Infinity")), ("'NaN'::numeric", number("NaN"))]),
    ("float", 13, SMALL, [
        ("0.5::float4", double(0.5)), ("0.1::float8", double(0.1)), ("'-0'::float8", double(0.0)),
        ("'NaN'::float4", scalar(2)(le(0x7FF8000000000000, 8))), ("'-Infinity'::float8", double(float("-inf"))),
    ], [("0.25::float8", double(0.25)), ("'Infinity'::float8", double(float("inf"))), ("1e300::float8", double(1e300))]),
    ("text", 13, SMALL, [
        ("'apple'", text("apple")), ("''::text", text("")), (f"{CAFE}::text", text("café")), ("'trailing  '::varchar", text("trailing")),
        (r"U&'gar\00e7on'::char(10)", text("garçon")), (r"U&'\00fcber'::name", text("über")), ("'ok'::mood", text("ok")),
        ("repeat('0123456789', 100)", text("0123456789" * 100)),
    ], [("'quince'", text("quince")), ("'cafe'::text", text("cafe")), ("'sad'::mood", text("sad")), (r"U&'caf\00c9'::text", text("cafÉ")),
        ("'plum'::name", text("plum"))]),
    ("text beyond LATIN1", 13, SMALL, [
        (r"U&'\65e5\672c'::text", text("日本")), (r"U&'\+01f418'::text", text("🐘")), (r"U&'e\0301'::text", text("e\u0301")),
        (r"U&'\043a\043b\044e\0447 '::varchar", text("ключ")),
    ], [(r"U&'\00e9'::text", text("é")), (r"U&'\672c\65e5'::text", text("本日")), (r"U&'\+01f419'::text", text("🐙"))]),
    ("bytea", 13, SMALL, [(r"'\xff00'::bytea", scalar(4)(b"\xff\0")), (r"'\x'::bytea", scalar(4)(b"")), (r"'\x20'::bytea", scalar(4)(b" "))],
        [(r"'\xff'::bytea", scalar(4)(b"\xff")), (r"'\x00'::bytea", scalar(4)(b"\0"))]),
    ("boolean", 13, SMALL, [("true", scalar(5)(b"\1"))], [("false", scalar(5)(b"\0"))]),
    ("uuid", 13, SMALL, [("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", scalar(6)(bytes.fromhex("a0eebc999c0b4ef8bb6d6bb9bd380a11")))],
        [("'110a38bd-b96b-6dbb-f84e-0b9c99bceea0'::uuid", scalar(6)(bytes.fromhex("110a38bdb96b6dbbf84e0b9c99bceea0")))]),
    ("macaddr", 13, SMALL, [("'08:00:2b:01:02:03'::macaddr", scalar(7)(bytes.fromhex("08002b010203")))],
        [("'03:02:01:2b:00:08'::macaddr", scalar(7)(bytes.fromhex("0302012b0008")))]),
    ("macaddr8", 13, SMALL, [("'08:00:2b:ff:fe:01:02:03'::macaddr8", scalar(8)(bytes.fromhex("08002bfffe010203")))],
        [("'03:02:01:fe:ff:2b:00:08'::macaddr8", scalar(8)(bytes.fromhex("030201feff2b0008")))]),
    ("inet", 13, SMALL, [
        ("'10.1.2.3'::inet", inet(4, 32, "0a010203")), ("'10.1.2.3/8'::inet", inet(4, 8, "0a010203")), ("'10.0.0.0/8'::cidr", inet(4, 8, "0a000000")),
        ("'::1'::inet", inet(6, 128, "00" * 15 + "01")), ("'2001:db8::/32'::cidr", inet(6, 32, "20010db8" + "00" * 12)),
    ], [("'3.2.1.10'::inet", inet(4, 32, "0302010a")), ("'10.0.0.0/9'::cidr", inet(4, 9, "0a000000"))]),
    ("timestamp", 13, SMALL, [
        ("date '2024-01-02'", DATE), ("timestamp '1999-12-31 23:59:59.999999'", timestamp(1999, 12, 31, 23, 59, 59, 999999)),
        ("date 'infinity'", scalar(10)(le(END, 8))), ("timestamp '-infinity'", scalar(10)(le(-(2**63), 8))),
    ], [("timestamp '2024-01-02 00:00:00.000001'", timestamp(2024, 1, 2, 0, 0, 0, 1)), ("date '2024-02-01'", timestamp(2024, 2, 1))]),
    # 745 times 400 years from 2000 on
    ("date past timestamp", 13, SMALL, [("date '300000-01-01'", scalar(10)(le(END, 8) + le(745 * 146097, 4)))],
        [("date '300000-01-02'", scalar(10)(le(END, 8) + le(745 * 146097 + 1, 4))), ("date 'infinity'", scalar(10)(le(END, 8)))]),
    ("timestamptz", 13, SMALL, [
        ("timestamptz '2024-01-02 05:04:05.678+02'", timestamptz(2024, 1, 2, 3, 4, 5, 678000)), ("timestamptz 'infinity'", scalar(11)(le(END, 8))),
    ], [("timestamptz '2024-01-02 05:04:05.678+00'", timestamptz(2024, 1, 2, 5, 4, 5, 678000))]),
    ("time", 13, SMALL, [("time '03:04:05.678'", time(3, 4, 5, 678000)), ("time '24:00'", time(24, 0, 0))], [("time '00:00'", time(0, 0, 0))]),
    ("array", 13, SMALL, [
        ("ARRAY[1, NULL, 3]", array(1, [(3, 1)], [number(1), None, number(3)])), ("'{}'::int8[]", array(1, [], [])),
        ("'[0:1]={5,6}'::int2[]", array(1, [(2, 0)], [number(5), number(6)])),
        ("ARRAY[[1, 2], [3, 4]]", array(1, [(2, 1), (2, 1)], [number(i) for i in (1, 2, 3, 4)])),
        ("ARRAY[1.5]", array(1, [(1, 1)], [number("1.5")])),
    ], [("ARRAY[5, 6]", array(1, [(2, 1)], [number(5), number(6)])), ("ARRAY[1, 3, NULL]", array(1, [(3, 1)], [number(1), number(3), None])),
        ("ARRAY[1, 2, 3, 4]", array(1, [(4, 1)], [number(i) for i in (1, 2, 3, 4)]))]),
    ("array of text", 13, SMALL, [
        (f"ARRAY['a', {CAFE}]", array(3, [(2, 1)], [text("a"), text("café")])), ("ARRAY[NULL::name]", array(3, [(1, 1)], [None])),
    ], [(f"ARRAY[{CAFE}, 'a']", array(3, [(2, 1)], [text("café"), text("a")]))]),
    ("record", 13, SMALL, [
        ("ROW(1, 'a'::text, NULL::int)", record(number(1), text("a"), 1)), (f"ROW(NULL::int8, {CAFE}::varchar, 2.5)", record(1, text("café"), number("2.5"))),
    ], [("ROW(1, 'b'::text, NULL::int)", record(number(1), text("b"), 1)), ("ROW(NULL::int, 'a'::text, 1)", record(1, text("a"), number(1)))]),
    ("record in a record", 13, SMALL, [("ROW(ROW(1, 'a'::text), date '2024-01-02')", record(record(number(1), text("a")), DATE))],
        [("ROW(ROW(2, 'a'::text), date '2024-01-02')", record(record(number(2), text("a")), DATE))]),
    ("array of records", 13, SMALL, [
        ("ARRAY[ROW(1, 'a'::text), ROW(2, 'b'::text)]",
            array(record(1, 3)[0], [(2, 1)], [record(number(1), text("a")), record(number(2), text("b"))])),
    ], [("ARRAY[ROW(2, 'b'::text), ROW(1, 'a'::text)]",
            array(record(1, 3)[0], [(2, 1)], [record(number(2), text("b")), record(number(1), text("a"))]))]),
    ("record of an array and a range", 13, SMALL, [
        ("ROW(ARRAY['a'], int4range(1, 5))", record(array(3, [(1, 1)], [text("a")]), range_(1, 2, number(1), number(5))))],
        [("ROW(ARRAY['b'], int4range(1, 5))", record(array(3, [(1, 1)], [text("b")]), range_(1, 2, number(1), number(5))))]),
    ("range", 13, SMALL, [
        ("int4range(1, 5)", range_(1, 2, number(1), number(5))), ("'empty'::int8range", range_(1, 1)), ("'(,)'::numrange", range_(1, 24)),
        ("'(1.5,2.50]'::numrange", range_(1, 4, number("1.5"), number("2.5"))), ("'(,7]'::int4range", range_(1, 8, None, number(8))),
    ], [("int4range(1, 6)", range_(1, 2, number(1), number(6))), ("'[1.5,2.5]'::numrange", range_(1, 6, number("1.5"), number("2.5")))]),
    ("range of dates", 13, SMALL, [
        ("'[2024-01-02,)'::daterange", range_(10, 18, DATE)), ("'[\"2024-01-02 00:00\",\"2024-01-03 00:00\")'::tsrange", range_(10, 2, DATE, timestamp(2024, 1, 3))),
    ], [("'[2024-01-03,)'::daterange", range_(10, 18, timestamp(2024, 1, 3)))]),
    ("multirange", 14, SMALL, [
        ("'{[1,3),[5,9)}'::int4multirange", multirange(1, range_(1, 2, number(1), number(3)), range_(1, 2, number(5), number(9)))),
        ("'{}'::nummultirange", multirange(1)),
    ], [("'{[1,3),[5,8)}'::int4multirange", multirange(1, range_(1, 2, number(1), number(3)), range_(1, 2, number(5), number(8))))]),
    ("char", 13, SMALL, [("'a'::\"char\"", scalar(17)(b"a")), ("(-1)::\"char\"", scalar(17)(b"\xff"))], [("'b'::\"char\"", scalar(17)(b"b"))]),
    ("other", 13, SMALL, [("interval '1 day'", A_DAY), ("interval '90 minutes'", other("interval", 7730815724437575667))], [
        ("interval '2 days'", other("interval", -6919532316554928197)), ("interval '1 year'", other("interval", -2110528084935987072)),
        ("interval '3 days'", other("interval", -5131822415894982783))]),
    ("another", 13, SMALL, [("timetz '03:04:05+00'", other("timetz", 5343038814250619089))],
        [("timetz '03:04:05+02'", other("timetz", 8821291727472954420))]),
    ("array of others", 13, SMALL, [("ARRAY[interval '1 day']", array(A_DAY[0], [(1, 1)], [A_DAY]))],
        [("ARRAY[NULL::interval]", array(A_DAY[0], [(1, 1)], [None]))]),
    ("bfkey", 13, SMALL, [(f"bf_key({CAFE})", text("café")), ("bf_key('pear'::name)", text("pear"))], [("bf_key('plum')", text("plum"))]),
    ("seed 42", 13, (8, 0.1, 42), INTEGERS[:8], INTEGERS[8:]),
    ("seed -1", 13, (100, 0.01, -1), INTEGERS[:20], INTEGERS[20:]),
    ("one byte", 13, (3, 0.5, 0), INTEGERS[:3], INTEGERS[3:12]),
    ("k = 1", 13, (20, 0.75, 0), INTEGERS[:20], INTEGERS[20:]),
    ("k = 33", 13, (5, 1e-10, 0), INTEGERS[:5], INTEGERS[5:10]),
    ("four blocks", 13, (300, 0.05, 0), INTEGERS[:20], INTEGERS[20:]),
]


def files():
    filters = keys = ""
    everything = hashlib.sha256()
    for name, least, (n, p, seed), members, others in FILTERS:
        f = Filter(n, p, seed)
        for _, key in members:
            f.add(key)
        data = f.portable()
        fields = (name, least, n, p, seed, hashlib.sha256(data).hexdigest(), base64.b64encode(data).decode())
        filters += "\t".join(map(str, fields)) + "\n"
        for is_member, some in ((True, members), (False, others)):
            for sql, key in some:
                fields = (name, sql, "%08x:%016x" % key, "ft"[is_member], "ft"[f.contains(key)])
                keys += "\t".join(fields).replace("\\", "\\\\") + "\n"
    return {"filters.tsv": filters, "keys.tsv": keys}


# ---- fixed values in the unit tests: what is too large for a file ----


def large(n, p, count):
    """The checksum of a filter, which covers all of its bytes."""
    f = Filter(n, p)
    for i in range(1, count + 1):
        f.add(number(i))
    return int.from_bytes(f.portable()[-8:], "little")


def largest(n, p, count):
    """XXH3 of the numbers of the bits of keys, in their order."""
    f = Filter(n, p)
    data = b"".join(le(bit, 8) for i in range(1, count + 1) for bit in sorted(set(f.positions(number(i)[1]))))
    return xxh3(data)


def layouts():
    """XXH3 of m, block and k for 7,000 pairs of n and p, these equally far apart by their bits."""
    low, high = (struct.unpack("<Q", struct.pack("<d", p))[0] for p in (1e-10, 1.0))
    data = b""
    for i in range(1000):
        p = struct.unpack("<d", struct.pack("<Q", low + i * ((high - low) // 1000)))[0]
        for n in (1, 7, 100, 1000, 12345, 1000000, 77777777):
            m, block_bits, k = layout(n, p)
            data += le(m, 8) + le(block_bits, 4) + le(k, 1)
    return xxh3(data)


CONSTANTS = (
    ("format_1_test.c", lambda: large(100000, 0.01, 100000)),
    ("format_1_test.c", lambda: large(100000, 0.0001, 50000)),
    ("format_1_test.c", lambda: largest(440000000, 0.01, 1000)),
    ("sizing_test.c", layouts),
)


def check():
    failed = count = 0

    def ok(passed, what):
        nonlocal failed, count
        count += 1
        failed += not passed
        print(f"{'' if passed else 'not '}ok {count} - {what}")

    for name, content in files().items():
        with open(os.path.join(ROOT, "test", "format", name)) as file:
            ok(file.read() == content, f"{name} is what another implementation writes")
    for name, value in CONSTANTS:
        constant = f"0x{value():016x}"
        with open(os.path.join(ROOT, "test", "unit", name)) as file:
            ok(constant in file.read(), f"{name} has {constant}")
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        for name, content in files().items():
            with open(os.path.join(ROOT, "test", "format", name), "w") as file:
                file.write(content)
    else:
        sys.exit(check())
