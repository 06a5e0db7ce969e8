#!/bin/bash
# Tests a dataset in subfiles whose owner is stopped. A stopped job counts as alive: other jobs and
# tools are refused, but readers are not, and the job can continue later. On a file system without
# locks, a job on another host may take the lease from a stopped owner. When that owner continues,
# its next call must fail on all processes, and it must not change any file. If ncmpijoin is stopped
# at any point, it must join what the dataset contains when it continues.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
. "${srcdir:-.}/test/file/lease_actors.sh"

# ---- stopped ----

tool_is_refused() { # COMMAND...
    if "$@" >"$where/said" 2>&1; then echo "$* was not refused"; return 1; fi
    refused "$(cat "$where/said")" "${actor_pids[owner]}" 'open for writing'
}
others_are_refused() {
    local a=$1 command
    for command in open create define delete; do
        ask other "$command"
        [[ $reply = 'error '* ]] || { echo "$command: $reply"; return 1; }
        refused "$reply" "${actor_pids[owner]}" 'open for writing' || return
    done
    tool_is_refused ./ncmpijoin "$a" "$where/o.nc" && ! [ -e "$where/o.nc" ] &&
        tool_is_refused ./ncmpijoin --remove "$a" "$where/o.nc" || return
    case $2 in *nc_compress*) tool_is_refused ./ncmpijoin --compact "$a" ;; esac
}
stopped() { # STACK
    local dir=$where/$1 a=$where/$1/a.nc h before
    mkdir "$dir" && h=$(hints "$1" "$dir.logs")
    actor owner 2 "$a" "PNETCDF_HINTS=$h" && actor other 2 "$a" "PNETCDF_HINTS=$h" &&
        must owner create 'put 0' sync 'put 1' && actor_signal STOP owner && actor_is_stopped owner || return
    before=$(hashes "$dir")
    others_are_refused "$a" "$h" && must other 'beside 2' read close && ./ncvalidator -q "$a" || return
    [ "$before" = "$(hashes "$dir")" ] || { echo "a file was changed"; return 1; }
    actor_signal CONT owner && must owner 'put 2' sync close wait && must other 'check 3' open 'put 3' close wait 'check 4' || return
    actor_end owner && actor_end other
}
for stack in blob compress blobburst; do
    check "a stopped owner keeps its lease: $stack" stopped $stack
done

# ---- replaced while stopped ----

fails() { # NAME COMMAND: succeeds if the command fails on all processes with this message
    ask "$1" "$2"
    [[ $reply = 'error '*"this job has lost its lease on it"* ]] && return
    echo "$1: $2: $reply"
    return 1
}
# lost STACK FIRST: has a job replace a stopped owner. FIRST is the first call that the owner makes
# when it continues.
lost() { # STACK FIRST
    local dir=$where/$1.$2 a=$where/$1.$2/a.nc h before
    mkdir "$dir" && h=$(hints "$1" "$dir.logs")
    actor "owner$2" 2 "$a" "PNETCDF_HINTS=$h" "LD_PRELOAD=$fault" 'NCMPI_FAULT=lock:1+:ENOLCK:*' &&
        actor "heir$2" 2 "$a" "PNETCDF_HINTS=${stacks[$1]%;nc_blob_join*}" "LD_PRELOAD=$calls" "BURST_BOOT=$where/boot" &&
        must "owner$2" create 'put 0' sync 'put 1' && actor_signal STOP "owner$2" && actor_is_stopped "owner$2" &&
        must "heir$2" open 'put 1' 'put 2' close || return
    before=$(hashes "$dir")
    actor_signal CONT "owner$2"
    case $2 in
    put) fails "owner$2" 'put 3' ;;
    sync) fails "owner$2" sync ;;
    esac && fails "owner$2" close || return
    [ "$before" = "$(hashes "$dir")" ] || { echo "$2: a file was changed"; return 1; }
    must "heir$2" 'check 3' open 'put 3' close 'check 4' || return
    actor_end "owner$2" && actor_end "heir$2"
}
lost_at_each() { # STACK
    local first
    for first in put sync close; do lost "$1" $first || return; done
}

# ---- a stopped join ----

# join_stopped_at POINT: stops ncmpijoin at a point, lets a job redefine the dataset unless that is
# refused, and then lets ncmpijoin continue.
join_stopped_at() { # POINT
    local dir=$where/joined a=$where/joined/a.nc epochs=1 status=0
    must writer create 'put 0' close || return
    LD_PRELOAD=$calls BURST_CALLS_DIR=$dir BURST_KILL_AT=$1 BURST_KILL_HOW=stop \
        ./ncmpijoin --remove "$a" "$dir/o.nc" >"$where/said" 2>&1 &
    actor_pids[join]=$!
    if actor_is_stopped join; then
        ask writer open
        if [ "$reply" = ok ]; then
            must writer extend 'put 1' close || return
            epochs=2
        fi
        stops+=$epochs
        actor_signal CONT join
    else
        ended=1
    fi
    wait "${actor_pids[join]}" || status=$?
    if [ $status = 0 ]; then
        if ls "$a"* 2>/dev/null; then return 1; fi
        mv "$dir/o.nc" "$a"
    fi
    must writer "check $epochs" delete && return
    echo "point $1, ncmpijoin ended with $status: $(cat "$where/said")"
    return 1
}
# Stops the join at each point. Some points must be before the join acquires the lease, and others
# after.
join_stopped_anywhere() {
    local point ended='' stops=''
    mkdir "$where/joined" && actor writer 2 "$where/joined/a.nc" "PNETCDF_HINTS=${stacks[blob]}" || return
    for ((point = 2; !ended; point++)); do join_stopped_at $point || return; done
    actor_end writer
    echo "stopped $stops"
    [[ $stops = 2*1* ]]
}

# ---- a stopped delete ----

# delete_stopped_at POINT: stops ncmpi_delete of an ordinary file at a point, lets a job create a
# dataset in subfiles under that name, and then lets ncmpi_delete continue. The new dataset must
# remain, because it is open. The create may also be refused.
delete_stopped_at() { # POINT
    local dir=$where/deleted created=''
    must plain create 'put 0' close && actor deleter 1 "$dir/a.nc" "LD_PRELOAD=$calls" "BURST_CALLS_DIR=$dir" \
        "BURST_KILL_AT=$1" BURST_KILL_HOW=stop && say deleter delete || return
    actor_pids[stopped]=${actor_pids[deleter]}
    if actor_stops stopped deleter; then
        ask maker create
        [[ $reply = error* ]] || created=1
        [ -z "$created" ] || must maker 'put 1' 'put 0' || return
        actor_signal CONT stopped
        hear deleter || return
    else
        ended=1
    fi
    actor_end deleter
    [ -z "$created" ] || must maker close 'beside 2' || { echo "point $1: $reply"; return 1; }
    rm -f "$dir"/*
}
# actor_stops PID-NAME NAME: waits until the process of actor_pids[PID-NAME] has stopped. Fails if
# actor NAME replies instead.
actor_stops() {
    local state
    while state=$(sed 's/.*) //' "/proc/${actor_pids[$1]}/stat"); do
        [ "${state%% *}" != T ] || return 0
        ! IFS= read -r -t 0.02 reply <&"${actor_out[$2]}" || return 1
    done
    return 1
}
delete_stopped_anywhere() {
    local point ended=''
    mkdir "$where/deleted" && actor plain 1 "$where/deleted/a.nc" PNETCDF_HINTS= &&
        actor maker 2 "$where/deleted/a.nc" "PNETCDF_HINTS=${stacks[blob]}" || return
    for ((point = 2; !ended; point++)); do delete_stopped_at $point || return; done
    actor_end plain && actor_end maker && [ $point -gt 5 ]
}

if [ -e "$calls" ]; then
    check "a stopped delete removes no new dataset" delete_stopped_anywhere
    check "a stopped join continues with the current files" join_stopped_anywhere
    for stack in blob compress joinclose; do
        check "an owner replaced while it was stopped writes nothing: $stack" lost_at_each $stack
    done
else
    skip "an owner replaced while it was stopped writes nothing" "built without the burst buffer"
fi
finish
