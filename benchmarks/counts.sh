#!/bin/bash
# Checks that no workload makes more agreements or file accesses, or copies more bytes, than
# counts.txt allows. These numbers are the same on any machine.
srcdir=${srcdir:-.}
. "$srcdir/test/support/tap.sh"
. "$srcdir/test/support/launch.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
table=$srcdir/benchmarks/counts.txt

# names PATTERN: prints the workloads in the table whose names match.
names() { awk -v want="$1" '!/^#/ && $1 ~ want { print $1 }' "$table" | uniq; }

# measure N: runs every workload in the table on N processes with small sizes. The model's history
# files are reduced to two variables of each kind and two steps.
measure() {
    launch "$1" benchmarks/bench -c -a -d "$dir" -b 0.25 -n 200 -r 1 \
        $(names '^[^e]') >"$dir/out.$1" &&
        launch "$1" benchmarks/bench -c -a -d "$dir" -n 2 -r 1 $(names '^e3sm') >>"$dir/out.$1"
}

# within N [NEAR]: checks that every row of the table was measured on N processes and that no number
# exceeds its limit. With NEAR, also checks that no number is far below its limit, which keeps the
# table accurate.
within() {
    awk -v near="${2-}" '
        NR == FNR && $1 == "count" && $5 != "fresh" {
            row = $2 " " $3
            seen[row]
            if ($7 == "agreements") agreements[row] = $8
            if ($7 ~ /^file_(reads|writes)$/) operations[row] += $9
            if ($7 ~ /^(put|get)_bytes$/) named[row] += $9
            if ($7 ~ /^file_(read|written)_bytes$/) moved[row] += $9
            if ($7 == "copied_bytes") copied[row] = $9
        }
        function limit(text, row) { return text ~ /B *$/ ? text + 0 : text * named[row] }
        function hold(row, what, n, most) {
            if (n + 0 <= most + 0) return
            print row ": " what ": " n + 0 ", at most " most + 0
            bad = 1
        }
        NR > FNR && !/^#/ && NF {
            split($0, part, / *\| */)
            row = part[1]
            if (!(row in seen)) { print row ": nothing was counted"; bad = 1; next }
            hold(row, "agreements", agreements[row], part[2])
            hold(row, "operations", operations[row], part[3])
            hold(row, "bytes copied", copied[row], limit(part[4], row))
            hold(row, "bytes of the file", moved[row], limit(part[5], row))
            if (near) hold(row, "operations in the table", part[3], 4 * operations[row] + 8)
        }
        END { exit bad }' FS='\t' "$dir/out.$1" "$table"
}

for n in 2 4; do check "all workloads, $n processes" measure $n; done
check "2 processes do no more than they may" within 2
check "4 processes do no more than they may" within 4 near
finish
