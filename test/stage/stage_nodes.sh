#!/bin/bash
# Staged reads on several nodes: test/support/nodes makes them.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/on_nodes.sh"

# mirrored TEST [ONLY]: with one staged file of 2 nodes
mirrored() { PNETCDF_HINTS='nc_stage_scope=global' here 2 4 "$@"; }

check "blocks go between 2 nodes" here 2 4 stage/stage_far
check "blocks go between 3 nodes" here 3 3 stage/stage_far
check "a writer and readers, 2 nodes" here 2 4 stage/stage_data "readers and a writer"
check "what is kept, 2 nodes" here 2 4 stage/stage_data "kept"
check "what is kept, one staged file" mirrored stage/stage_data "kept"
check "calls on sockets fail, 2 nodes" here 2 2 stage/stage_sockets
check "what is kept of subfiles, 2 nodes" here 2 4 stage/stage_subfiles "kept"
check "what is kept of subfiles, one staged file" mirrored stage/stage_subfiles "kept"
killed() { PNETCDF_HINTS='nc_stage_scope=global' bash "$nodes" 2 bash "$top/test/stage/stage_kill.sh" 2; }
check "a killed program leaves one staged file to the next" killed
finish
