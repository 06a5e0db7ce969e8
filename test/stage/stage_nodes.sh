#!/bin/bash
# Tests staged reads on several nodes, which are simulated by test/support/nodes.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/on_nodes.sh"

# mirrored TEST [ONLY]: runs a test on two nodes that share one staged file.
mirrored() { PNETCDF_HINTS='nc_stage_scope=global' here 2 4 "$@"; }

check "blocks are exchanged between 2 nodes" here 2 4 stage/stage_far
check "blocks are exchanged between 3 nodes" here 3 3 stage/stage_far
check "a writer and readers see no stale data on 2 nodes" here 2 4 stage/stage_data "readers and a writer"
check "a kept stage is used again on 2 nodes" here 2 4 stage/stage_data "kept"
check "a kept shared stage is used again on 2 nodes" mirrored stage/stage_data "kept"
check "failing sockets cause no errors on 2 nodes" here 2 2 stage/stage_sockets
check "a kept stage of subfiles is used again on 2 nodes" here 2 4 stage/stage_subfiles "kept"
check "a kept shared stage of subfiles is used again on 2 nodes" mirrored stage/stage_subfiles "kept"
killed() { PNETCDF_HINTS='nc_stage_scope=global' bash "$nodes" 2 bash "$top/test/stage/stage_kill.sh" 2; }
check "a shared stage of a killed program is removed by the next one" killed
finish
