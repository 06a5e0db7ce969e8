#!/bin/bash
# Runs every case of test/api/each_fault.mpi (described at the top of its source), and continues
# after cases that hang (`make check-faults`). Takes hours. Prints a table at the end.
#
#   FAULTS_WAYS        pattern; only ways that match it are tested
#   NCMPI_TEST_PROCS   process counts (default: 1 2 3 4)
set -u
top=${srcdir:-.}
. "$top/test/support/launch.sh"
ways=('auto' 'direct' 'node' 'nodes of one' 'nodes of two' 'nodes of three' 'view'
    'collective only' 'log' 'log, drained at once' 'log of posts' 'log of a node'
    'blobs' 'blobs of each' 'log on blobs' 'frames' 'quantized' 'quantized log' 'quantized frames')
log=$(mktemp) || exit 99
trap 'rm -f "$log"' EXIT
export NCMPI_FAULTS=all NCMPI_TEST_LIMIT=86400
bad=0 rows=()

# try WAY PROCS: runs all cases for one way. If one hangs or crashes, continues with the next.
try() {
    local from=0.1 last cases=0 n
    : >"$log.all"
    while :; do
        NCMPI_TEST_ONLY="each fault: $1\$" NCMPI_TEST_PROCS=$2 NCMPI_FAULTS_FROM=$from \
            "$BASH" "$top/test/support/run-mpi" test/api/each_fault.mpi >"$log" 2>&1
        cat "$log" >>"$log.all"
        grep -E '(lost|lied|wrong|leaked) on process|: (no end|died)' "$log"
        last=$(grep -E ': (no end|died), after' "$log" | grep "^# [0-9.]*: $1," | head -n 1)
        [ -n "$last" ] || break
        n=${last##*after } cases=$((cases + ${n% cases}))
        last=${last#\# } last=${last%%:*}
        from=${last%.*}.$((${last#*.} + 1))
    done
    n=$(grep -c ' cases, ' "$log")
    if [ "$n" = 0 ]; then tail -n 20 "$log"; fi
    n=$(sed -n "s/^# table: $1, .*: \([0-9]*\) cases.*/\1/p" "$log")
    row "$1" "$2" $((cases + ${n:-0}))
}

# Prints the number of cases that have a log line matching a pattern.
count() {
    grep -E "$1" "$log.all" | cut -d: -f1 | sort -u | wc -l
}

row() {
    local lost lied wrong hung died leaked
    lost=$(count ', lost on') lied=$(count ', lied on') wrong=$(count ', wrong on')
    hung=$(count ': no end') died=$(count ': died') leaked=$(count ', leaked on')
    bad=$((bad + lost + lied + wrong + hung + died + leaked + ($3 == 0)))
    rows+=("$(printf '%-22s %5d %7d %5d %5d %5d %5d %5d %6d' "$1" "$2" "$3" "$lost" "$hung" \
        "$lied" "$died" "$wrong" "$leaked")")
    echo "${rows[-1]}"
}

for n in ${NCMPI_TEST_PROCS:-1 2 3 4}; do
    for way in "${ways[@]}"; do
        if [[ $way =~ ${FAULTS_WAYS:-.} ]]; then try "$way" "$n"; fi
    done
done
echo "way                    procs   cases  lost  hung  lied  died wrong leaked"
printf '%s\n' "${rows[@]}"
rm -f "$log.all"
[ $bad = 0 ]
