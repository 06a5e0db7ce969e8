#!/bin/bash
# Tests that logs are not replayed over values that another job has put. One job logs values for a
# file, and another job opens the file without the burst buffer. The first job is killed at each
# call in a redefinition, which drains the job's log. Then the second job puts to the same place and
# closes. The next open with the burst buffer must either report the conflict and change nothing, or
# preserve the newer values. In other runs, the second job opens the file before the first job does,
# or after the kill.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
. "${srcdir:-.}/test/file/lease_actors.sh"
[ -e "$calls" ] || { skip "logs of two jobs" "built without the burst buffer"; finish; }
dir=$where/dir a=$where/dir/a.nc
burst="nc_burst_buf=enable;nc_burst_buf_dirname=$dir;nc_burst_buf_flush=flush_onclose"

# Kills the logging job at POINT. Sets `early` if the job had logged nothing by then.
logs_and_dies() { # POINT WHEN
    actor logging 1 "$a" "PNETCDF_HINTS=$burst" "LD_PRELOAD=$calls" "BURST_CALLS_DIR=$dir" "BURST_KILL_AT=$1" 2>/dev/null &&
        ask logging open && [ "$reply" = ok ] && ask logging 'put 1' && [ "$reply" = ok ] || { early=1; return; }
    [ "$2" != early ] || must other open || return
    ask logging extend
    case $reply in ok* | error*) survived=1 ;; esac # the error comes after the drain
}

# killed_at POINT WHEN: the other job opens the file before the logging job does (first), before the
# logging job is killed (early), or after the kill (late).
killed_at() {
    local before
    early=
    rm -rf "$dir" && mkdir "$dir" && must other create 'put 0' close &&
        { [ "$2" != first ] || must other open; } && logs_and_dies "$@" || return
    if [ -n "$survived" ]; then
        actor_end logging
        [ "$2" = late ] || must other close
        return
    fi
    actor_gone logging 2>/dev/null
    if [ -n "$early" ]; then
        [ "$2" != first ] || must other close
        return
    fi
    { [ "$2" != late ] || must other open; } && must other 'put 2' close || return
    before=$(sha256sum <"$a")
    actor next 1 "$a" "PNETCDF_HINTS=$burst" && ask next open || return
    case $reply in
    ok) replayed=$((replayed + 1)) && must next close && must other 'newest 3' ;;
    *'changed'*) refused=$((refused + 1)) && [ "$before" = "$(sha256sum <"$a")" ] || { echo "changed"; return 1; } ;;
    *) echo "open: $reply"; return 1 ;;
    esac && actor_end next && return
    echo "killed at $1"
    return 1
}
newer_values_stay() { # WHEN
    local point early= survived='' replayed=0 refused=0
    for ((point = 2; !survived; point += early ? 5 : 1)); do killed_at $point "$1" || return; done
    echo "# $1: $refused refused, $replayed replayed"
    [ $refused -gt 0 ]
}
actor other 1 "$a" PNETCDF_HINTS= || exit 99
for when in first early late; do
    check "a replay keeps newer values of another job: opened $when" newer_values_stay $when
done
finish
