#!/bin/bash
# Runs tests of the data functions on several nodes that share a file system, simulated by
# test/support/nodes. The tests must pass as they do on a single node.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/on_nodes.sh"

# apart NODES PROCESSES: checks that the processes really see this number of nodes. Otherwise, the
# tests would prove nothing.
apart() {
    bash "$nodes" "$1" bash -c '. "$0/test/support/launch.sh"; launch "$1" uname -n' \
        "$top" "$2" | sort | uniq -c | awk -v n="$1" '
            $2 ~ /^node/ { nodes++ } END { exit nodes != n }'
}

check "processes on 2 nodes see 2 nodes" apart 2 4
check "processes on 3 nodes see 3 nodes" apart 3 6
check "ways passes on 2 nodes: neighbours" here 2 4 mpio/ways "neighbours"
check "ways passes on 3 nodes: record variables" here 3 6 mpio/ways "record variables"
check "collective passes on 2 nodes" here 2 4 api/collective
check "records passes on 3 nodes" here 3 6 api/records
check "redefine passes on 2 nodes" here 2 4 api/redefine
check "random programs pass on 2 nodes" here 2 4 random/random_program
finish
