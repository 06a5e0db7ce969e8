#!/bin/bash
# Bodies of the data functions, on several nodes that share a file: what passes on one
# node passes there. test/support/nodes makes the nodes.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/on_nodes.sh"

# What has to be true for any of it: processes on two nodes are no neighbours.
apart() {
    bash "$nodes" "$1" bash -c '. "$0/test/support/launch.sh"; launch "$1" uname -n' \
        "$top" "$2" | sort | uniq -c | awk -v n="$1" '
            $2 ~ /^node/ { nodes++ } END { exit nodes != n }'
}

check "two nodes are two" apart 2 4
check "three nodes are three" apart 3 6
check "every way, 2 nodes" here 2 4 mpio/ways "neighbours"
check "every way, 3 nodes" here 3 6 mpio/ways "record variables"
check "collective calls, 2 nodes" here 2 4 api/collective
check "records, 3 nodes" here 3 6 api/records
check "data that moves, 2 nodes" here 2 4 api/redefine
check "random programs, 2 nodes" here 2 4 random/random_program
finish
