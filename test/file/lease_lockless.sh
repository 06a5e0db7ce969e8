#!/bin/bash
# Tests a dataset in subfiles on a file system without locks, where the record that the owner writes
# into the dataset decides who owns it. While the owner is alive, even if it is stopped, other jobs
# and tools are refused. If an owner on this host has died, exactly one of the other jobs takes
# over. If the owner was on another host, it is unknown whether it is alive, so other jobs are
# refused.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
. "${srcdir:-.}/test/file/lease_actors.sh"
lockless=("LD_PRELOAD=$fault" 'NCMPI_FAULT=lock:1+:ENOLCK:*')
elsewhere=("LD_PRELOAD=$calls:$fault" 'NCMPI_FAULT=lock:1+:ENOLCK:*' "BURST_BOOT=$where/boot")

# all_refused FILE JOB PATTERN VARIABLE=VALUE...: checks that the job and all tools are refused, and
# that they do not change any file. The caller sets $h to the hints.
all_refused() {
    local a=$1 job=$2 pattern=$3 before command
    shift 3
    before=$(hashes "${a%/*}")
    for command in open create delete; do
        ask "$job" "$command"
        [[ $reply = 'error '* ]] && refused "$reply" "${actor_pids[owner]-$dead}" "$pattern" || { echo "$command: $reply"; return 1; }
    done
    for command in '' --compact; do
        case $command.$h in --compact.*nc_compress* | .*) ;; *) continue ;; esac # without frames, --compact has nothing to do
        if env "$@" ./ncmpijoin $command "$a" $([ -n "$command" ] || echo "$where/o.nc") >"$where/said" 2>&1; then
            echo "ncmpijoin $command was not refused"
            return 1
        fi
        refused "$(cat "$where/said")" "${actor_pids[owner]-$dead}" "$pattern" || return
    done
    [ "$before" = "$(hashes "${a%/*}")" ] || { echo "a file was changed"; return 1; }
}

living() { # STACK
    local a=$where/$1/a.nc h
    mkdir "$where/$1" && h=$(hints "$1" "$where/$1.logs")
    actor owner 2 "$a" "PNETCDF_HINTS=$h" "${lockless[@]}" && actor other 2 "$a" "PNETCDF_HINTS=$h" "${lockless[@]}" &&
        must owner create 'put 0' sync 'put 1' && all_refused "$a" other 'open for writing' "${lockless[@]}" &&
        must other 'beside 2' && actor_signal STOP owner && actor_is_stopped owner &&
        all_refused "$a" other 'open for writing' "${lockless[@]}" && must other 'beside 2' &&
        actor_signal CONT owner && must owner 'put 2' close && must other 'check 3' open 'put 3' close 'check 4' || return
    actor_end owner && actor_end other
}
for stack in blob compress blobburst; do
    check "without locks: a running owner keeps its lease: $stack" living $stack
done

# Several jobs read the record of a dead owner and write their own record half a second later,
# without noticing that another job has already written one. A job whose record was overwritten has
# lost the lease, and must report that.
dead_owner() { # ROUNDS
    local a=$where/dead.nc h=${stacks[blob]} round k gate epoch=0 ended
    actor maker 2 "$a" "PNETCDF_HINTS=$h" "${lockless[@]}" && must maker create 'put 0' close || return
    for k in 1 2 3; do actor c$k 1 "$a" "PNETCDF_HINTS=$h" "${lockless[@]}" || return; done
    for ((round = 0; round < $1; round++)); do
        gate=$where/gate.$round ended=0
        actor owner 1 "$a" "PNETCDF_HINTS=$h" "${lockless[@]}" && must owner open "put $((epoch + 1))" sync && actor_kill owner || return
        for k in 1 2 3; do say c$k "gate $gate" && say c$k open; done
        : >"$gate"
        epoch=$((epoch + 2))
        winners=()
        for k in 1 2 3; do
            hear c$k || return
            if [[ $reply = ok* ]]; then winners+=(c$k); continue; fi
            grep -q 'lost its lease on it to process [0-9]* on host\|open for writing by process [0-9]* on host' <<<"$reply" ||
                { echo "$reply"; return 1; }
        done
        for k in "${winners[@]}"; do
            ask $k "put $epoch" && [[ $reply = ok* ]] && ask $k close && [[ $reply = ok* ]] && { ended=$((ended + 1)); continue; }
            [[ $reply = 'error '*lost* ]] || { echo "$reply"; return 1; }
            ask $k close
        done
        [ $ended = 1 ] || { echo "round $round: ${#winners[@]} of three jobs opened it, $ended closed it"; return 1; }
        must maker "check $((epoch + 1))" || return
    done
    for k in maker c1 c2 c3; do actor_end $k; done
}
check "without locks: one of several jobs replaces a dead owner" dead_owner 4

other_host() {
    local a=$where/host/a.nc h=${stacks[compress]} said='cannot check whether that process has ended'
    mkdir "$where/host"
    actor owner 2 "$a" "PNETCDF_HINTS=$h" "${elsewhere[@]}" && actor here 2 "$a" "PNETCDF_HINTS=$h" "${lockless[@]}" &&
        actor there 1 "$a" "PNETCDF_HINTS=$h" "${elsewhere[@]}" &&
        must owner create 'put 0' sync && all_refused "$a" here 'open for writing' "${lockless[@]}" || return
    [[ $(cat "$where/said") = *"$said"* ]] || { cat "$where/said"; return 1; }
    dead=${actor_pids[owner]} && actor_kill owner && all_refused "$a" here 'open for writing' "${lockless[@]}" &&
        must here 'beside 1' && must there open 'put 1' close && must here open 'put 2' close && must there 'check 3' || return
    actor_end here && actor_end there
}
if [ -e "$calls" ]; then
    check "without locks: an owner on another host is not replaced" other_host
else
    skip "without locks: an owner on another host is not replaced" "built without the burst buffer"
fi
finish
