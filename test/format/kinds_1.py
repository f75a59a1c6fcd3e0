#!/usr/bin/python3
"""The other kinds of filters in format version 1, from doc/format.md.

As format_1.py, for kinds.tsv: name, the filter in SQL as it is made, SHA-256 of the
portable form, its base64, the keys from 1 to 400 that are in, the time that this is
asked at.  In a cuckoofilter a key takes the
first empty slot of its first bucket, or else of its second one; a key that would have
to move others is an error here.
"""

import base64
import hashlib
import os
import struct
import sys

sys.dont_write_bytecode = True
from format_1 import MASK, ROOT, Filter, fmix, layout, le, number, xxh3

HOUR = 3600 * 10**6


def portable(kind, key_type, k, block_bits, n, p, m, seed, own, body):
    data = bytes([1, kind, 1, k]) + le(key_type, 4) + le(block_bits, 4) + le(n, 8)
    data += struct.pack("<d", p) + le(m, 8) + le(seed, 8) + le(own[0], 8) + le(own[1], 8) + body
    return data + le(xxh3(data), 8)


def padded(bits):
    return bytes(bits) + bytes(-len(bits) % 8)


class Counting(Filter):
    def __init__(self, n, p, seed=0):
        super().__init__(n, p, seed)
        self.counters = [0] * self.m

    def add(self, key, by=1):
        self.key_type = key[0]
        for i in self.positions(key[1]):
            if self.counters[i] < 15:
                self.counters[i] += by

    def remove(self, key):
        self.add(key, -1)

    def contains(self, key):
        return all(self.counters[i] for i in self.positions(key[1]))

    def portable(self):
        pairs = zip(self.counters[::2], self.counters[1::2])
        body = bytes(low | high << 4 for low, high in pairs)
        return portable(2, self.key_type, self.k, self.block_bits, self.n, self.p, self.m, self.seed, (0, 0), body)


class Cuckoo:
    def __init__(self, n, p, seed=0):
        b = 2 if n <= 8 else 2 * -(-5 * (n + 32) // 38)
        assert b >= 256 or n <= 8  # the sizes between need the third line of the rule
        f = 8
        while 2 * n > (p - n / 2**64) * b * (2**f - 1):
            f += 1
        self.n, self.p, self.seed, self.f, self.key_type = n, p, seed & MASK, f, 0
        self.buckets = [[0] * 4 for _ in range(b)]

    def places(self, h):
        b, f = len(self.buckets), self.f
        x = (h ^ (fmix(self.seed) if self.seed else 0)) * 0x9E3779B97F4A7C15 & MASK
        x ^= x >> 32
        i = x * b >> 64
        fingerprint = 1 + ((x * 0xF1357AEA2E62A9C5 & MASK) * (2**f - 1) >> 64)
        offset = 2 * (((fingerprint << (64 - f)) + (fmix(fingerprint) >> f) & MASK) * (b // 2) >> 64) + 1
        return fingerprint, [self.buckets[i], self.buckets[(offset - i) % b]]

    def replace(self, key, old, new):
        for bucket in self.places(key[1])[1]:
            if old in bucket:
                bucket[bucket.index(old)] = new
                return
        raise ValueError("no such slot")

    def add(self, key):
        self.key_type = key[0]
        self.replace(key, 0, self.places(key[1])[0])

    def remove(self, key):
        self.replace(key, self.places(key[1])[0], 0)

    def contains(self, key):
        fingerprint, buckets = self.places(key[1])
        return any(fingerprint in bucket for bucket in buckets)

    def portable(self):
        m = 4 * self.f * len(self.buckets)
        bits = sum(slot << self.f * i for i, slot in enumerate(sum(self.buckets, [])))
        body = le(bits, m // 8) + bytes(8)
        return portable(3, self.key_type, self.f, 4 * self.f, self.n, self.p, m, self.seed, (0, 0), body)


class Scalable:
    def __init__(self, n, p, seed=0):
        self.n, self.p, self.seed, self.key_type, self.layers = n, p, seed, 0, []

    def contains(self, key):
        return any(layer.contains(key) for layer in self.layers)

    def add(self, key):
        self.key_type = key[0]
        if self.contains(key):
            return
        if not self.layers or self.layers[-1].keys == self.layers[-1].n:
            g = len(self.layers)
            power = 1.0
            while power > self.p:
                power /= 2
            layer = Filter(self.n * 2**g, max((self.p - min(2**-28, power / 4)) / 2 ** (g + 1), 1e-10), self.seed)
            layer.keys = 0
            self.layers.append(layer)
        self.layers[-1].add(key)
        self.layers[-1].keys += 1

    def portable(self):
        body = b""
        for g, layer in enumerate(self.layers):
            header = portable(1, 0, layer.k, layer.block_bits, layer.n, layer.p, layer.m, layer.seed, (layer.keys, g), b"")
            body += bytes(4) + header[:-8]
        body += b"".join(padded(layer.bits) for layer in self.layers)
        m = sum(layer.m for layer in self.layers)
        return portable(4, self.key_type, 0, 0, self.n, self.p, m, self.seed & MASK, (len(self.layers), 0), body)


class Layered:
    def __init__(self, n, p, layers, span, seed=0):
        self.n, self.p, self.count, self.span, self.seed = n, p, layers, span, seed
        self.key_type, self.layers, self.forgotten = 0, {}, None

    def drop(self, spans):
        for span in spans:
            self.layers.pop(span, None)
            self.forgotten = span if self.forgotten is None else max(span, self.forgotten)

    def add(self, key, at):
        self.key_type = key[0]
        span = at // self.span
        newest = max(self.layers, default=span)
        if span <= newest - self.count:
            self.drop([span])
            return
        self.drop([old for old in self.layers if old <= span - self.count])
        self.layers.setdefault(span, Filter(self.n, self.p / self.count, self.seed)).add(key)

    def contains(self, key, at):
        now = at // self.span
        return any(now - self.count < span <= now and layer.contains(key) for span, layer in self.layers.items())

    def portable(self):
        m, block_bits, k = layout(self.n, self.p / self.count)
        spans = sorted(self.layers)
        body = le(0 if self.forgotten is None else self.forgotten + 2**63, 8)
        body += b"".join(le(span, 8) for span in spans) + b"".join(padded(self.layers[span].bits) for span in spans)
        own = (self.span, self.count | len(spans) << 32)
        return portable(5, self.key_type, k, block_bits, self.n, self.p, m, self.seed & MASK, own, body)


def added(f, keys, removed=()):
    for i in keys:
        f.add(number(i))
    for i in removed:
        f.remove(number(i))
    return f, [i for i in range(1, 401) if f.contains(number(i))]


def series(first, last):
    return f"ARRAY(SELECT generate_series({first}, {last}))"


def spread(f, keys, minutes, asked):
    """Keys at so many minutes each after 2000; negative ones before."""
    for i in keys:
        f.add(number(i), i * minutes * 60 * 10**6)
    return f, [i for i in range(1, 401) if f.contains(number(i), asked)]


KINDS = [
    ("counting, empty", "bf_create_counting(100)", added(Counting(100, 0.01), [])),
    ("counting", f"bf_add_all(bf_create_counting(300, 0.01, 5), {series(1, 200)} || {series(1, 50)})",
        added(Counting(300, 0.01, 5), [*range(1, 201), *range(1, 51)])),
    ("counting, removed", f"bf_remove_all(bf_add_all(bf_create_counting(300, 0.001, -1), {series(1, 200)}), {series(50, 150)})",
        added(Counting(300, 0.001, -1), range(1, 201), range(50, 151))),
    ("counting, saturated", "bf_remove_all(bf_add_all(bf_create_counting(8, 0.1), array_fill(1, ARRAY[20]) || 2), array_fill(1, ARRAY[20]) || 2)",
        added(Counting(8, 0.1), [1] * 20 + [2], [1] * 20 + [2])),
    ("cuckoo, empty", "bf_create_cuckoo(1000)", added(Cuckoo(1000, 0.01), [])),
    ("cuckoo, small", "bf_add_all(bf_create_cuckoo(8, 0.1, 7), ARRAY[1, 2, 3, 1])", added(Cuckoo(8, 0.1, 7), [1, 2, 3, 1])),
    ("cuckoo", f"bf_remove_all(bf_add_all(bf_create_cuckoo(1000, 0.001, -9), {series(1, 300)}), {series(100, 150)})",
        added(Cuckoo(1000, 0.001, -9), range(1, 301), range(100, 151))),
    ("cuckoo, long fingerprints", f"bf_add_all(bf_create_cuckoo(1000, 1e-9), {series(1, 200)})", added(Cuckoo(1000, 1e-9), range(1, 201))),
    ("scalable, empty", "bf_create_scalable(100, 0.01, 5)", added(Scalable(100, 0.01, 5), [])),
    ("scalable", f"bf_add_all(bf_create_scalable(10, 0.01, -5), {series(1, 300)})", added(Scalable(10, 0.01, -5), range(1, 301))),
    ("scalable, least rates", f"bf_add_all(bf_create_scalable(20, 1e-9), {series(1, 100)})", added(Scalable(20, 1e-9), range(1, 101))),
    ("layered, empty", "bf_create_layered(100, 0.01, 3, '1 hour', 5)", (Layered(100, 0.01, 3, HOUR, 5), [])),
    # hours 0 to 6: those from 4 on are left
    ("layered", "bf_agg_layered(x, '2000-01-01Z'::timestamptz + x * interval '1 minute', 100, 0.01, 3, '1 hour') FROM generate_series(1, 400) AS x",
        spread(Layered(100, 0.01, 3, HOUR), range(1, 401), 1, 400 * 60 * 10**6)),
    # newest first: others are late, or too late
    ("layered, before 2000", "bf_agg_layered(x, '2000-01-01Z'::timestamptz - x * interval '7 minutes', 50, 0.001, 10, '25 minutes') FROM generate_series(1, 100) AS x",
        spread(Layered(50, 0.001, 10, 25 * 60 * 10**6), range(1, 101), -7, 0)),
]


def content():
    lines = ""
    for name, sql, (f, keys) in KINDS:
        data = f.portable()
        keys = "{" + ",".join(map(str, keys)) + "}"
        at = "2000-01-01 06:40Z" if name == "layered" else "2000-01-01 00:00Z"
        fields = (name, sql, hashlib.sha256(data).hexdigest(), base64.b64encode(data).decode(), keys, at)
        lines += "\t".join(fields) + "\n"
    return lines


if __name__ == "__main__":
    path = os.path.join(ROOT, "test", "format", "kinds.tsv")
    if sys.argv[1:] == ["--write"]:
        with open(path, "w") as file:
            file.write(content())
    else:
        with open(path) as file:
            right = file.read() == content()
        print(f"{'' if right else 'not '}ok 1 - kinds.tsv is what another implementation writes")
        print("1..1")
        sys.exit(not right)
