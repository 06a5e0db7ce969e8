#!/usr/bin/env python3
"""An independent decoder of the library's files other than netCDF files. It was written only from
doc/formats.md, and has the same sections. It shares no code with the library, and is simple and
slow.

    decoder.py log LOG.meta ...         prints the pending entries in logs
    decoder.py replay FILE LOG.meta ... drains them to the dataset
    decoder.py journal FILE             prints the contents of FILE.redef, and writes its
                                        headers to FILE.old and FILE.new
    decoder.py join MASTER OUT          joins a dataset in subfiles

It ends with an error if a file differs from the document."""
import importlib
import os
import struct
import sys


def optional(name):
    """Returns a module, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


xxhash, zstandard, lz4_block = map(optional, ("xxhash", "zstandard", "lz4.block"))
MASK = (1 << 64) - 1


def need(good, what):
    if not good:
        sys.exit("decoder.py: " + what)


class Bytes:
    """Decodes consecutive numbers in a file."""

    def __init__(self, data, order, at=0):
        self.data, self.order, self.at = data, order, at

    def take(self, form):
        values = struct.unpack_from(self.order + form, self.data, self.at)
        self.at += struct.calcsize(self.order + form)
        return values[0] if len(values) == 1 else values

    def name(self):
        n = self.take("i")
        text = self.data[self.at : self.at + n]
        self.at += n
        self.skip_to(4)
        return text.decode()

    def skip_to(self, multiple):
        self.at += -self.at % multiple


# ---- netCDF's classic formats, as far as needed to find values ----

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
CODES = {1: "b", 2: "c", 3: "h", 4: "i", 5: "f", 6: "d", 7: "B", 8: "H", 9: "I", 10: "q", 11: "Q"}


class Var:
    pass


class Classic:
    """A header, whose offsets are relative to offset `base` of the file."""

    def __init__(self, path, base=0):
        self.path, self.base = path, base
        with open(path, "rb") as f:
            f.seek(base)
            b = self.bytes = Bytes(f.read(), ">")
        need(b.take("3s") == b"CDF", path + ": not netCDF")
        self.format = b.take("B")
        self.count = "q" if self.format == 5 else "i"
        self.numrecs = b.take(self.count)
        self.dims = self.listed(lambda: (self.text(), b.take(self.count)))
        self.atts = self.attributes()
        self.vars = self.listed(self.variable)
        self.size = b.at
        self.lay_out()

    def listed(self, item):
        self.bytes.take("i")
        return [item() for _ in range(self.bytes.take(self.count))]

    def text(self):
        n = self.bytes.take(self.count)
        text = self.bytes.take("%ds" % n)
        self.bytes.skip_to(4)
        return text.decode()

    def attribute(self):
        name, kind, n = self.text(), self.bytes.take("i"), self.bytes.take(self.count)
        raw = self.bytes.take("%ds" % (n * SIZES[kind]))
        self.bytes.skip_to(4)
        return name, list(struct.unpack(">%d%s" % (n, CODES[kind]), raw))

    def attributes(self):
        return dict(self.listed(self.attribute))

    def variable(self):
        v = Var()
        v.name = self.text()
        v.dims = [self.bytes.take(self.count) for _ in range(self.bytes.take(self.count))]
        v.atts, v.type, _ = self.attributes(), self.bytes.take("i"), self.bytes.take(self.count)
        v.begin = self.bytes.take("i" if self.format == 1 else "q")
        return v

    def lay_out(self):
        records = [v for v in self.vars if v.dims and self.dims[v.dims[0]][1] == 0]
        for v in self.vars:
            v.record = v in records
            v.shape = [self.dims[d][1] for d in v.dims]
            v.nelems = 1
            for n in v.shape[v.record :]:
                v.nelems *= n
            v.size = v.nelems * SIZES[v.type]
        padded = [v.size + -v.size % 4 for v in records]
        self.record_size = records[0].size if len(records) == 1 else sum(padded)

    def place(self, v, record=0, element=0):
        return self.base + v.begin + record * self.record_size + element * SIZES[v.type]

    def var(self, name):
        return next(v for v in self.vars if v.name == name)

    def numbers(self, v, first, n):
        at = self.place(v, 0, first) - self.base
        return struct.unpack_from(">%d%s" % (n, CODES[v.type]), self.bytes.data, at)


# ---- checksums and owners ----


def xxh3(data, seed):
    return xxhash.xxh3_64_intdigest(data, seed & MASK) if xxhash else None


def fnv(data):
    h = 14695981039346656037
    for byte in data:
        h = (h ^ byte) * 1099511628211 & MASK
    return h


def scatter(x):
    x = (x ^ x >> 31) * 0x9FB21C651E98DF25 & MASK
    x = (x ^ x >> 29) * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def stir(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def mix(data):
    h = len(data) * 0x9E3779B97F4A7C15 & MASK
    whole = len(data) - len(data) % 8
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at : at + 8], sys.byteorder)
        h = stir(h ^ word) + 0x9E3779B97F4A7C15 & MASK
    return stir(h ^ int.from_bytes(data[whole:].ljust(8, b"\0"), sys.byteorder))


def owner(data):
    host, boot, started, pid, since, nonce = struct.unpack_from(">64sQQqqQ", data)
    return {"host": host.split(b"\0")[0].decode(), "pid": pid, "nonce": nonce}


# ---- logs ----

# text, schar, uchar, short, ushort, int, uint, float, double, longlong, ulonglong
NATIVE = dict(enumerate("cbBhHiIfdqQ", 1))


class Log:
    """A log of version 1 and its pending entries."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.data = f.read()
        with open(path[: -len("meta")] + "data", "rb") as f:
            self.values = f.read()
        b = Bytes(self.data, "=")
        need(b.take("8s") == b"PnetCDF1", path + ": not a log of version 1")
        b.take("8s")
        need(b.take("i") == (sys.byteorder == "big"), path + ": of the other byte order")
        b.take("iqqqq")
        self.entry_begin = b.take("q")
        self.basename, self.processor = b.name(), b.name()
        b.skip_to(8)
        self.slots_begin, self.chunk, self.nslots, self.token = b.take("qqqQ")
        b.take("QQQQ")
        self.dataset = b.name()
        b.skip_to(8)
        self.hold(b.at, self.token, b.take("Q"), "the header")
        self.slots = [self.slot(self.slots_begin + 256 * i) for i in range(self.nslots)]
        newest = max(s["generation"] for s in self.slots)
        for s in self.slots:
            if s["generation"] < newest:
                s.update(generation=newest, count=0, drained=0)
        self.slots = {s["rank"]: s for s in self.slots if s["rank"] >= 0}

    def hold(self, end, seed, told, what, begin=0):
        real = xxh3(self.data[begin:end], seed)
        need(real in (None, told), "%s: the checksum of %s is wrong" % (self.path, what))

    def slot(self, at):
        names = "rank", "generation", "count", "drained", "synced", "definitions", "sum"
        copies = [dict(zip(names, struct.unpack_from("=qqqqqQQ", self.data, at + 64 * i))) for i in (0, 1)]
        good = [
            c for i, c in enumerate(copies)
            if xxh3(self.data[at + 64 * i : at + 64 * i + 48], self.token) in (None, c["sum"])
        ]
        need(good, self.path + ": no copy of a commit record holds")
        return max(good, key=lambda c: (c["generation"], c["count"], c["drained"] + c["synced"]))

    def entry(self, at):
        b = Bytes(self.data, "=", at)
        e = {}
        e["size"], e["kind"], e["type"], e["varid"], e["ndims"], e["off"], e["len"] = b.take("qiiiiqq")
        if e["size"] < 88 or at + e["size"] > len(self.data):
            return None
        n = e["ndims"] * max(e["kind"], 1)
        e["start"] = list(struct.unpack_from("=%dq" % n, self.data, b.at))
        left = (e["size"] - 88) // 8 - n
        e["count"] = list(struct.unpack_from("=%dq" % n, self.data, b.at + 8 * n)) if left >= n else [1] * n
        strided = e["kind"] == -4
        e["stride"] = list(struct.unpack_from("=%dq" % n, self.data, b.at + 16 * n)) if strided else [1] * n
        b.at = at + e["size"] - 48
        e["seq"], e["epoch"], e["rank"], e["flags"], e["data_sum"], e["sum"] = b.take("qqqqQQ")
        return e

    def wanted(self, e, s, at):
        """Returns whether the entry must be put, or None if it is damaged or of another
        generation."""
        seed = self.token ^ (s["generation"] * 0x9E3779B97F4A7C15 & MASK) ^ (at << 20 & MASK)
        real = xxh3(self.data[at : at + e["size"] - 8], seed)
        return {None: True, e["sum"]: True, e["sum"] ^ MASK: False}.get(real)

    def entries(self):
        """Yields the pending entries, except for cancelled ones."""
        at, seen = self.entry_begin, dict.fromkeys(self.slots, 0)
        while at + 88 <= len(self.data):
            e = self.entry(at)
            s = self.slots.get(e["rank"]) if e else None
            real = self.wanted(e, s, at) if s and seen[s["rank"]] < s["count"] else None
            if real is None or e["seq"] != seen[s["rank"]]:
                at = self.entry_begin + ((at - self.entry_begin) // self.chunk + 1) * self.chunk
                continue
            seen[s["rank"]] += 1
            at += e["size"]
            if seen[s["rank"]] > s["drained"] and real:
                e["values"] = self.values[e["off"] : e["off"] + e["len"]]
                bare = e["len"] == 0 or xxh3(e["values"], 0) in (None, e["data_sum"])
                need(bare, self.path + ": the checksum of values is wrong")
                yield e
        missing = [r for r, s in self.slots.items() if seen[r] < s["count"]]
        need(not missing, self.path + ": entries are missing")


def waiting(paths):
    found = [e for path in paths for e in Log(path).entries()]
    return sorted(found, key=lambda e: (e["epoch"], e["rank"], e["seq"]))


def indices(start, count, stride):
    if not start:
        yield []
        return
    for i in range(count[0]):
        for rest in indices(start[1:], count[1:], stride[1:]):
            yield [start[0] + i * stride[0]] + rest


def places(header, v, e):
    """Yields the file offsets of an entry's elements, in the order of its values."""
    size = SIZES[v.type]
    for k in range(max(e["kind"], 1)):
        part = slice(k * e["ndims"], (k + 1) * e["ndims"])
        if e["flags"] & 2:
            for at in range(0, e["count"][k], size):
                yield header.place(v) + e["start"][k] + at
            continue
        for index in indices(e["start"][part], e["count"][part], e["stride"][part]):
            element = 0
            for i, n in list(zip(index, v.shape))[v.record :]:
                element = element * n + i
            yield header.place(v, index[0] if v.record else 0, element)


def replay(path, logs):
    header, most = Classic(path), 0
    with open(path, "r+b") as f:
        for e in waiting(logs):
            need(not e["flags"] & 1, "a fill value is put: this decoder has no fill values")
            v, native = header.vars[e["varid"]], NATIVE[e["type"]]
            values = struct.unpack("=%d%s" % (e["len"] // struct.calcsize(native), native), e["values"])
            for at, value in zip(places(header, v, e), values):
                f.seek(at)
                f.write(struct.pack(">" + CODES[v.type], value))
                if v.record:
                    most = max(most, (at - header.place(v)) // header.record_size + 1)
        if most > header.numrecs:
            f.seek(4)
            f.write(struct.pack(">" + header.count, most))
            end = min(v.begin for v in header.vars if v.record) + most * header.record_size
            f.truncate(max(end + header.base, os.path.getsize(path)))


# ---- the journal ----


def page(data, number, magic, form):
    need(data[4096 * number :][:8] == magic, "page %d of the journal is another" % number)
    end = 4096 * number + 8 + struct.calcsize(form)
    need(struct.unpack_from(">Q", data, end)[0] == mix(data[4096 * number : end]), "a page's sum is wrong")
    return struct.unpack_from(form, data, 4096 * number + 8)


def saved_sum(saved):
    """Returns the sum of all 4-byte words, each multiplied by a position-dependent factor."""
    total = 1
    for i in range(0, len(saved), 4):
        x = (i // 4 + 1) * 0x9E3779B97F4A7C15 & MASK
        x = (x ^ x >> 32) * 0xD6E8FEB86659FD93 & MASK
        total += int.from_bytes(saved[i : i + 4], "little") * ((x ^ x >> 32) | 1)
    return total & MASK


def journal(path):
    with open(path + ".redef", "rb") as f:
        data = f.read()
    with open(path, "rb") as f:
        mark = f.read(12)
    inode, _, was, will, old, new, fills, area, total = page(data, 0, b"NCREDEF2", ">QQqqqqqqQ")
    need(inode == os.stat(path).st_ino, "the journal is of another file")
    who = owner(data[3 * 4096 + 8 :])
    page(data, 3, b"NCOWNER1", ">128sQQ")
    need(mark[:3] == b"RDF", "the dataset is not marked")
    serial = struct.unpack(">Q", mark[4:])[0] - who["nonce"] & MASK
    state = page(data, 1 + serial % 2, b"NCSTATE2", ">qqqqqqqQ")
    need(state[0] == serial, "no state is the one that the mark names")
    headers = data[4 * 4096 : 4 * 4096 + old + new + fills]
    need(mix(headers) == total, "the sum of the headers is wrong")
    if state[3]:
        begin = (4 * 4096 + old + new + fills + 4095) // 4096 * 4096 + state[4] * ((area + 4095) // 4096 * 4096)
        need(saved_sum(data[begin : begin + state[6] - state[5]]) == state[7], "the sum of what was saved is wrong")
    for name, begin, n in ("old", 0, old), ("new", old, new):
        with open(path + "." + name, "wb") as f:
            f.write(headers[begin : begin + n])
    print("phase %d back %d saved %d area %d low %d high %d" % state[1:7])
    print("from %d to %d bytes, areas of %d, by process %d on %s" % (was, will, area, who["pid"], who["host"]))


# ---- datasets in subfiles ----


class Master:
    def __init__(self, path):
        with open(path, "rb") as f:
            p = f.read(4096)
        need(p[:8] == b"\x89NCBLOB\n", path + ": it has no page in front")
        n = struct.unpack_from(">14Q", p, 8)
        need(n[0] in (2, 3) and n[13] == fnv(p[:112] + p[640:]), path + ": its page is damaged")
        self.checked, self.path = n[0] == 3, path
        *definitions, self.numrecs = struct.unpack_from(">5Q", p, 896)
        self.definitions = list(zip(definitions[::2], definitions[1::2]))
        self.token, self.nprocs, self.nsubfiles, self.stage = list(n[1:3]), n[3], n[4], n[6]
        self.framed, self.seed = n[5] & 4, n[1] ^ n[2]
        self.now, self.before, self.bits = n[7:10], n[10:13], p[1024:]

    def counts(self, k):
        return self.bits[k // 8] >> k % 8 & 1

    def check_header(self, whole):
        """Checks the header and, if the dataset was closed, the number of records."""
        if self.checked:
            found = fnv(header_bytes(whole)), whole.size
            need(found in self.definitions, self.path + ": the checksum of its header is wrong")
            if self.stage == 2:
                need(whole.numrecs <= self.numrecs, self.path + ": its number of records is wrong")
                whole.numrecs = self.numrecs

    def fits(self, moment):
        if self.stage == 0 and moment[:2] == self.before[:2]:
            return True
        return moment[:2] == self.now[:2] and 0 <= moment[2] - self.now[2] <= 2


def header_bytes(c):
    """Returns a header without its number of records."""
    end = 12 if c.format == 5 else 8
    return c.bytes.data[:4] + bytes(end - 4) + c.bytes.data[end : c.size]


def check_subfile(s):
    """Verifies the checksum of the header. The attribute that stores it is treated as zeros."""
    told = struct.pack(">q", *s.atts.get("header_checksum", [0]))
    data = header_bytes(s)
    at = data.find(b"header_checksum\0") + 16 + 4 + 8
    need(data[at : at + 8] == told, s.path + ": its header has no checksum")
    found = fnv(data[:at] + bytes(8) + data[at + 8 :])
    need(found == int.from_bytes(told, "big"), s.path + ": the checksum of its header is wrong")


def subfiles(path, master):
    for i in range(master.nsubfiles):
        s = Classic("%s.%04d" % (path, i))
        need([x & MASK for x in s.atts["dataset_token"]] == master.token, s.path + ": of another dataset")
        need(s.atts["subfile_number"] == [i], s.path + ": another one")
        if master.checked:
            check_subfile(s)
        v = s.var("dataset_moment")
        need(master.fits(tuple(x & MASK for x in s.numbers(v, 0, 3))), s.path + ": of another moment")
        yield s


def check_sums(s, k, varid, v, blob, first, n, record):
    name = "D%d.sums.%d" % (k, varid)
    if xxhash is None or n == 0 or name not in [x.name for x in s.vars]:
        return
    sums, size = s.var(name), SIZES[v.type]
    at = s.place(sums, record if v.record else 0, blob)
    told = int.from_bytes(s.bytes.data[at : at + 8], "big")
    raw = s.bytes.data[s.place(v, record, first) :][: n * size]
    little = b"".join(raw[i : i + size][::-1] for i in range(0, len(raw), size)).ljust(n * size, b"\0")
    seed = 0
    for i in range(0, len(little), 65536):
        seed = xxh3(little[i : i + 65536], seed)
    need(not told & 1 or told == seed | 1, "%s: the checksum of %s is wrong" % (s.path, v.name))


def runs(master, s, k, blob):
    """Returns pairs of the first element in the whole variable and the number of elements."""
    names = "nreqs", "blob_start", "blob_count"
    n, start, count = (s.numbers(s.var("D%d.%s" % (k, name)), blob, 1)[0] for name in names)
    row = s.var("D%d.offsets" % k).shape[1] * blob
    lengths = s.numbers(s.var("D%d.lengths" % k), row, n)
    pieces = list(zip(s.numbers(s.var("D%d.offsets" % k), row, n), lengths))
    if master.checked:
        told, x = s.numbers(s.var("D%d.checksums" % k), blob, 1)[0] & MASK, scatter(start)
        for at, length in pieces + [(n, count)]:
            x = scatter(scatter(x ^ at) + length & MASK)
        need(x == told, "%s: the checksum of a map is wrong" % s.path)
    return pieces


def values(master, s, v, varid, w, record, blob):
    """Returns a blob's values of one record as they are stored in the subfile, or None if they
    are in the master file."""
    k, size = v.atts["decomposition_ID"][0], SIZES[w.type]
    n = s.numbers(s.var("D%d.blob_count" % k), blob, 1)[0]
    if master.framed:
        return framed_values(Frames(s, master), s, v, (varid, record, blob, n, size))
    first = s.numbers(s.var("D%d.blob_start" % k), blob, 1)[0]
    check_sums(s, k, varid, v, blob, first, n, record)
    return s.bytes.data[s.place(v, record, first) :][: n * size].ljust(n * size, b"\0")


def join(path, out):
    master, whole = Master(path), Classic(path, 4096)
    master.check_header(whole)
    result = bytearray(whole.bytes.data)
    for s in list(subfiles(path, master)):
        for v in s.vars:
            k = v.atts.get("decomposition_ID", [0])[0]
            if "global_varid" not in v.atts or not master.counts(k):
                continue
            varid = v.atts["global_varid"][0]
            w = whole.vars[varid]
            need(v.atts.get("global_type", [v.type]) == [w.type], "%s: %s has another type" % (s.path, v.name))
            for record in range(whole.numrecs if w.record else 1):
                for blob in range(dict(s.dims)["nblobs"]):
                    raw = values(master, s, v, varid, w, record, blob)
                    if raw is not None:
                        put_runs(result, whole, w, record, runs(master, s, k, blob), raw)
    with open(out, "wb") as f:
        f.write(result)


def put_runs(result, whole, w, record, pieces, raw):
    at = 0
    for element, length in pieces:
        to, n = whole.place(w, record, element) - whole.base, length * SIZES[w.type]
        result.extend(bytes(max(0, to + n - len(result))))
        result[to : to + n] = raw[at : at + n]
        at += n


# ---- values in frames ----

PIECE = 262144


class Frames:
    """The log of a subfile, which contains its chains and frames."""

    def __init__(self, s, master):
        self.path, self.seed, self.checked = s.path, master.seed, master.checked
        self.data = s.bytes.data[s.place(s.var("frames")) :]

    def take(self, at, n, what):
        need(8 <= at and n >= 0 and at + n <= len(self.data), "%s: %s is outside of the log" % (self.path, what))
        return self.data[at : at + n]

    def hold(self, data, told, what):
        need(xxh3(data, self.seed) in (None, told), "%s: the checksum of %s is wrong" % (self.path, what))

    def page(self, told, varid, level):
        """Returns the offset of a page. The upper 16 bits are a checksum of the others."""
        at = told & (1 << 48) - 1
        check = at & 0xFFFF ^ at >> 16 & 0xFFFF ^ at >> 32
        check ^= scatter(self.seed + varid * 64 + level & MASK) >> 48
        need(at and told >> 48 == (check or 0xFFFF), self.path + ": the offset of a page is damaged")
        return at

    def length(self, at, told):
        """Returns the length of a chain. The upper 24 bits check it and the offset."""
        length = told & (1 << 40) - 1
        check = scatter(scatter(at ^ self.seed) ^ length) >> 40 | 1
        need(told >> 40 == check if told else at == 0, self.path + ": the place of a chain is damaged")
        return length


def chain_place(log, s, v, record, blob):
    """Returns the offset and length of the chain with a blob's values."""
    p, nblobs = (record + 1).bit_length() - 1, dict(s.dims)["nblobs"]
    page = s.numbers(v, p, 1)[0] & MASK
    if page == 0:
        return 0, 0
    if log.checked:
        page = log.page(page, v.atts["global_varid"][0], p)
    table = log.take(page, nblobs * 16 << p, "a page")
    at, length = struct.unpack_from(">QQ", table, ((record + 1 - (1 << p)) * nblobs + blob) * 16)
    return (at, log.length(at, length)) if log.checked else (at, length)


def framed_values(log, s, v, whose):
    """Returns values from frames. `whose`: variable, record, blob, number of elements, and their
    size."""
    at, length = chain_place(log, s, v, whose[1], whose[2])
    if length == 0:
        return None
    data = log.take(at, length, "a chain")
    log.hold(data[:-8], int.from_bytes(data[-8:], "big"), "a chain")
    magic, *told, codec = struct.unpack_from(">8sqqqqii", data)
    need(magic == b"NCCHAIN\n" and told == list(whose), log.path + ": a chain is of other values")
    frames = list(struct.iter_unpack(">qqQ", data[48:-8]))
    left, size = whose[3] * whose[4], whose[4]
    need(len(frames) == -(-left // PIECE), log.path + ": a chain has another length")
    pieces = [min(PIECE, left - i * PIECE) for i in range(len(frames))]
    return b"".join(frame(log, f, codec, n, size) for f, n in zip(frames, pieces))


def frame(log, told, codec, n, size):
    data = log.take(told[0], told[1], "a frame")
    log.hold(data, told[2], "a frame")
    if len(data) == n:
        return data
    turned = expand(data, codec, n)
    need(len(turned) == n, log.path + ": a frame has another length")
    result = bytearray(n)
    for k in range(size):
        result[k::size] = turned[k * (n // size) :][: n // size]
    return bytes(result)


def expand(data, codec, n):
    need(codec in (1, 2), "compressed in a way that is not known")
    module = {1: zstandard, 2: lz4_block}[codec]
    need(module, "this needs python3-%s" % {1: "zstandard", 2: "lz4"}[codec])
    if codec == 1:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=n)
    return lz4_block.decompress(data, uncompressed_size=n)


# ---- commands ----


def show(paths):
    for e in waiting(paths):
        print("process %(rank)d epoch %(epoch)d seq %(seq)d variable %(varid)d start %(start)s count %(count)s" % e)


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "log":
        show(arguments)
    elif command == "replay":
        replay(arguments[0], arguments[1:])
    elif command == "journal":
        journal(arguments[0])
    elif command == "join":
        join(*arguments)


main()
