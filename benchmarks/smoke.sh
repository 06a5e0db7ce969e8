# Runs each benchmark with tiny sizes. Benchmarks verify their data; the test also checks that the
# verification detects a planted error.
srcdir=${srcdir:-.}
. "$srcdir/test/support/tap.sh"
. "$srcdir/test/support/launch.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Avoids a pipe, because launch kills all descendants of this shell when it is done.
bench() {
    local status=0
    launch "$@" >"$dir/out" || status=$?
    cat "$dir/out"
    return $status
}
tiny=(benchmarks/bench -d "$dir" -b 0.02 -r 1 -n)

# Prints all benchmarks except those that need at least 1000 names.
names() {
    launch 1 benchmarks/bench -l >"$dir/names"
    awk 'NF && !/^(meta|cdf|requests) / { print $1 }' "$dir/names"
}

# all_there N: checks that every benchmark printed a line for N processes.
all_there() {
    local name workloads=$(names)
    bench "$1" "${tiny[@]}" 2 $workloads scale=0.001 gaps=1 log="$dir" near="$dir" epochs=2 || return 1
    for name in $workloads; do
        awk -F '\t' -v w="$name" '$2 == w { n++ } END { exit !n }' "$dir/out" || {
            echo "nothing from $name"
            return 1
        }
    done
}

spoiled() {
    ! bench 1 "${tiny[@]}" 20 -x "$1" && bench 1 "${tiny[@]}" 20 "$1"
}

counted() {
    LD_PRELOAD=$PWD/benchmarks/bench-count.so bench 1 "${tiny[@]}" 20 columns || return 1
    grep -q "^count	columns	put	runs	fresh	1	write	1	1$" "$dir/out"
}

tables() {
    printf 'ours\t/d\ttime\tw\tput\t%s\tfresh\t2\t8000000\t%s\t0.5\n' \
        lib 0.5 lib 0.4 lib 0.2 runs 0.1 runs 0.3 runs 0.2 |
        awk -v names=ours -f "$srcdir/benchmarks/medians.awk" -f "$srcdir/benchmarks/tables.awk" |
        grep -qF '| /d | 2 | w | put fresh | 40 | - | 20 | 0.50 |'
}

check "all benchmarks on 1 process" all_there 1
check "all benchmarks on 2 processes" all_there 2
check "metadata and requests" bench 2 "${tiny[@]}" 1000 meta cdf requests
check "a damaged file is noticed: slabs" spoiled block-3d
check "a damaged file is noticed: records" spoiled history
check "calls are counted" counted
count_table() {
    printf 'ours\t/d\tcount\tw\tput\tlib\tfresh\t2\twrite\t3\t5\n' |
        awk -v names=ours -f "$srcdir/benchmarks/medians.awk" -f "$srcdir/benchmarks/tables.awk" |
        grep -qF '| 2 | w put fresh | ours | 0 | 0 | 0 | 0 | 0 | 0 | 5 |'
}

check "medians and ratios" tables
check "a table of counts" count_table

# Checks that each way of the burst buffer was measured; deferred closes are expected only with
# several files.
burst() {
    bench 2 "${tiny[@]}" 2 burst-small-64 burst-checkpoints scale=0.001 gaps=1 log="$dir" &&
        awk -F '\t' '$3 == "total" { n[$4]++ } END { exit !(n["raw"] == 2 && n["direct"] == 2 &&
            n["close"] == 2 && n["immediate"] == 2 && n["deferred"] == 1) }' "$dir/out"
}
check "the burst buffer's ways" burst
finish
