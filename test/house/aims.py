#!/usr/bin/env python3
"""Measures the structure of the sources. aims.sh compares the results with aims.tsv.

aims.py sources TOP             measures the sources below directory TOP
aims.py calls TOP LIBRARY INCLUDE YIELD COMMAND...
                                measures the calls of walk.c, which is compiled with $MPICC against the library
                                in directory LIBRARY and started by COMMAND, such as "mpiexec -n 2". YIELD is a
                                library to preload, which makes waiting processes yield.
aims.py table FILE              prints the rows of FILE (aims.tsv) as a table in Markdown

The first two print lines of two columns: a measure and its value, separated by a tab.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

# ---- sources ----

# Calls that open, read, write, sync or lock a file: system calls, and the functions of `base` that
# wrap them.
SYSTEM = r"(?<![>.])\b(open|openat|read|write|pread|pwrite|fsync|fdatasync|flock|fcntl|ftruncate)\("
WRAPPERS = (r"\bbase_(open|open_with|open_own|open_regular|read_at|read_some|write_at|write_on|write_pieces|"
            r"write_in_place|write_back|sync_data|sync_directory|lock_[a-z]+|unlock_bytes)\(")


def source(path):
    """Returns the text of a file without its comments."""
    return re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)


def lines(*patterns):
    return sum(open(path, errors="replace").read().count("\n")
               for pattern in patterns for path in glob.glob(pattern, recursive=True) if os.path.isfile(path))


def structs(text):
    """Yields (name, body) for each struct of a source; the body contains nested structs."""
    for m in re.finditer(r"\bstruct\s+(\w+)\s*\{", text):
        depth, end = 1, m.end()
        while depth > 0 and end < len(text):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        yield m[1], text[m.end():end - 1]


def members(body):
    """Counts the members of a struct, including those of the structs nested in it."""
    for brackets in (r"\([^()]*\)", r"\([^()]*\)", r"\[[^\]]*\]"):
        body = re.sub(brackets, "", body)
    statements = [s.strip() for s in re.split(r"[;{}]", body)]
    return sum(s.count(",") + 1 for s in statements if s and not re.fullmatch(r"(struct|union)( \w+)?", s))


def measure_sources(top):
    os.chdir(top)
    library = sorted(glob.glob("src/lib/**/*.c", recursive=True))
    outside = [p for p in library if not re.match(r"src/lib/(file|base)/", p)]
    yield "files outside `file` and `base` that open, read, write or lock", sum(
        1 for p in outside if re.search(SYSTEM, source(p)))
    yield "... or call a function of `base` that does", sum(
        1 for p in outside if re.search(SYSTEM + "|" + WRAPPERS, source(p)))
    driver = source("src/lib/driver/driver.h")
    yield "function pointers that the author of a driver meets", sum(
        body.count("(*") for name, body in structs(driver) if name.startswith("driver_"))
    # `struct hints` is excluded, because it is generated and does not change after the dataset is
    # opened.
    widest = max((members(body), name) for p in library + glob.glob("src/lib/**/*.h", recursive=True)
                 for name, body in structs(source(p)) if name != "hints")
    yield "members of the widest struct", widest[0]
    yield "lines of `src/lib`", lines("src/lib/**/*.[ch]")
    for module in ("blob", "burst"):
        yield f"lines of `src/lib/{module}`", lines(f"src/lib/{module}/*.[ch]")
    yield "lines of `src/utils`", lines("src/utils/**/*.[ch]")
    yield "lines of `test`", lines("test/**/*.[chm]*", "test/**/*.sh", "test/**/*.py")
    yield "lines of `benchmarks`", lines("benchmarks/**/*.[ch]", "benchmarks/**/*.py", "benchmarks/**/*.sh")


# ---- calls ----

# Each row: the measure's name, the hints, the shape, and the call to measure. Rows with the same
# hints and shape share a run.
CALLS = [
    ("collective put, contiguous", "", "rows", "put_vara_float_all"),
    ("collective get, contiguous", "", "rows", "get_vara_float_all"),
    ("`wait_all` of one put, contiguous", "", "rows", "wait_all"),
    ("collective put, columns", "", "columns", "put_vara_float_all"),
    ("collective get, columns", "", "columns", "get_vara_float_all"),
    ("burst buffer: put", "nc_burst_buf=enable", "columns", "put_vara_float_all"),
    ("burst buffer: get", "nc_burst_buf=enable", "columns", "get_vara_float_all"),
    ("burst buffer: close", "nc_burst_buf=enable", "columns", "close"),
    ("subfiles: put", "nc_blob=enable", "columns", "put_vara_float_all"),
    ("subfiles: get", "nc_blob=enable", "columns", "get_vara_float_all"),
    ("subfiles: compressed put", "nc_blob=enable;nc_compress=zstd", "columns", "put_vara_float_all"),
    ("staged get", "nc_stage=enable", "rows", "get_varn_float_all"),
]
DUMPS = ["enddef", "put_vara_float_all", "get_vara_float_all", "iput_vara_float", "wait_all", "close", "open",
         "get_varn_float_all"]


def read_bounds(path):
    """Returns the rows of aims.tsv: measure, bound, aim."""
    return [line.rstrip("\n").split("\t") for line in open(path) if not line.startswith("#")]


def read_dump(path):
    """Returns the call after which callgrind wrote this dump, and the functions and files of src/lib that it
    entered. The files include headers whose functions were inlined."""
    files, names, call = {}, {}, None
    functions, entered = set(), set()
    current = function = owner = ""

    def resolve(table, text):
        number, _, name = text.partition(" ")
        if name:
            table[number] = name
        return table.get(number, "")

    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        key, _, value = line.partition("=")
        if line.startswith("desc: Trigger: --dump-after=ncmpi_"):
            call = line.rpartition("ncmpi_")[2]
        elif key in ("fl", "fi", "fe"):
            current = resolve(files, value)
            # A compiler cache may record a file under several names.
            current = current[current.find("src/lib/"):]
        elif key == "fn":
            function, owner = resolve(names, value).split("'")[0], current
        elif key in ("cfi", "cfl"):
            resolve(files, value)
        elif key == "cfn":
            resolve(names, value)
        elif re.match(r"[+\-*\d]", line):
            if "src/lib/" in owner:
                functions.add((owner, function))
            if "src/lib/" in current:
                entered.add(current)
    return call, len(functions), len(entered)


def run(program, hints, shape, preload, command):
    """Returns {call: (functions, files)}. Of the two processes, the larger numbers count; of several calls of a
    function, the first."""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, LD_PRELOAD=preload, PNETCDF_HINTS=hints)
        if "nc_burst_buf" in hints:
            environment["PNETCDF_HINTS"] += ";nc_burst_buf_dirname=" + scratch
        command = command + ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={scratch}/out.%p"]
        command += [f"--dump-after=ncmpi_{call}" for call in DUMPS]
        done = subprocess.run(command + [program, shape, f"{scratch}/walk.nc"], env=environment, timeout=300,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"'{shape}' with the hints '{hints}' failed:\n{done.stderr}")
        for process in {path.split(".")[1] for path in glob.glob("out.*.*", root_dir=scratch)}:
            seen = set()
            parts = glob.glob(f"{scratch}/out.{process}.*")
            for part in sorted(parts, key=lambda path: int(path.rpartition(".")[2])):
                call, functions, files = read_dump(part)
                if call is not None and call not in seen:
                    before = found.get(call, (0, 0))
                    found[call] = (max(before[0], functions), max(before[1], files))
                    seen.add(call)
    return found


def measure_calls(top, library, include, preload, *command):
    """Some functions are called only if a process waits for the other. A call that exceeds its bound is measured up to
    three times, and the smallest numbers count."""
    runs = {}
    bounds = {row[0]: int(row[1]) for row in read_bounds(f"{top}/test/house/aims.tsv")}
    with tempfile.TemporaryDirectory() as scratch:
        program = f"{scratch}/walk"
        subprocess.run([os.environ["MPICC"], "-O1", f"-I{include}", "-o", program, f"{top}/test/house/walk.c",
                        f"-L{library}", "-lpnetcdf", f"-Wl,-rpath,{library}"], check=True)
        for name, hints, shape, call in CALLS:
            most = bounds[name + ": functions"], bounds[name + ": files"]
            best = None
            for repeat in range(3):
                if (hints, shape, repeat) not in runs:
                    runs[hints, shape, repeat] = run(program, hints, shape, preload, list(command))
                numbers = runs[hints, shape, repeat].get(call, (0, 0))
                best = numbers if best is None else (min(best[0], numbers[0]), min(best[1], numbers[1]))
                if best[0] <= most[0] and best[1] <= most[1]:
                    break
            yield name + ": functions", best[0]
            yield name + ": files", best[1]


# ---- table ----


def print_table(path):
    rows = read_bounds(path)
    print("| measure | today | aim |\n|---|---:|---:|")
    for measure, bound, aim in rows:
        if measure.endswith(": files"):
            continue
        if measure.endswith(": functions"):
            measure = measure[:-len(": functions")]
            files = next(row for row in rows if row[0] == measure + ": files")
            measure, bound, aim = measure + " (functions / files)", f"{bound} / {files[1]}", f"{aim} / {files[2]}"
        print(f"| {measure} | {bound} | {aim} |")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        return print_table(sys.argv[2])
    if len(sys.argv) == 3 and sys.argv[1] == "sources":
        found = measure_sources(sys.argv[2])
    elif len(sys.argv) > 6 and sys.argv[1] == "calls":
        found = measure_calls(*sys.argv[2:])
    else:
        sys.exit(__doc__)
    for name, value in found:
        print(f"{name}\t{value}")


main()
