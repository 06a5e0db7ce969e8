#!/bin/bash
# Tests several jobs, and also tools, that compete for a dataset in subfiles after its owner was
# killed. Exactly one must become the owner, and the values of epochs that were synced or closed
# must remain.
#
#   LEASE_ROUNDS=N   total number of rounds, with plain and compressed subfiles (12)
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
. "${srcdir:-.}/test/file/lease_actors.sh"
rounds=${LEASE_ROUNDS:-12}

# killed_owner FILE HINTS EPOCH [PROCESSES]: starts a job that puts and syncs the epoch, and kills
# it while it puts the next one.
killed_owner() {
    actor owner "${4:-1}" "$1" "PNETCDF_HINTS=$2" && must owner open "put $3" sync || return
    say owner "put $(($3 + 1))"
    sleep "0.00$((RANDOM % 10))"
    dead=${actor_pids[owner]}
    actor_kill owner
}

# contend GATE NAME:COMMAND...: lets the jobs execute these commands at the same time. Sets $winners
# and $refusals. Each refusal must name one of the competing jobs or tools.
contend() {
    local gate=$1 pair text pids=$dead
    shift
    winners=() refusals=
    for pair; do
        pids+=" ${actor_pids[${pair%%:*}]}"
        say "${pair%%:*}" "gate $gate" && say "${pair%%:*}" "${pair#*:}"
    done
    : >"$gate"
    for pair; do
        hear "${pair%%:*}" || { echo "$pair: $reply"; return 1; }
        if [[ $reply = ok* ]]; then winners+=("${pair%%:*}"); continue; fi
        text=$reply
        refusals+="$text"$'\n'
        [ -n "${any_refusal-}" ] || refused "$text" "$pids" 'open for writing' || return
    done
}

# ---- jobs ----

one_of_four() { # STACK ROUNDS
    local a=$where/$1.nc round epoch=0 k stale=0 n h
    h=$(hints "$1")
    actor maker 2 "$a" "PNETCDF_HINTS=$h" && must maker create 'put 0' close || return
    for k in 1 2 3 4; do actor "c$k" 1 "$a" "PNETCDF_HINTS=$h" || return; done
    for ((round = 0; round < $2; round++)); do
        n=1
        [ $((round % 8)) != 7 ] || n=2
        killed_owner "$a" "$h" $((epoch + 1)) $n || { echo "round $round: $reply"; return 1; }
        contend "$where/gate.$round" c1:open c2:open c3:open c4:open || { echo "round $round"; return 1; }
        [ ${#winners[@]} = 1 ] || { echo "round $round: ${#winners[@]} winners"; return 1; }
        for k in $dead; do stale=$((stale + $(grep -c "by process $k " <<<"$refusals"))); done
        epoch=$((epoch + 2))
        must maker "beside $((epoch + 1))" && must "${winners[0]}" "put $epoch" close && must maker "check $((epoch + 1))" || return
    done
    for k in maker c1 c2 c3 c4; do actor_end $k; done
    echo "# $1: $2 rounds, in $stale of $(($2 * 3)) refusals the killed owner is named" >>"$where/notes"
}
check "one of four jobs takes over from a killed owner: blob" one_of_four blob $((rounds * 3 / 5))
check "one of four jobs takes over from a killed owner: compress" one_of_four compress $((rounds - rounds * 3 / 5))

# ---- tools ----

# tool NAME GATE COMMAND...: starts a tool as soon as the file GATE exists.
declare -A tool_job
tool() {
    local name=$1 gate=$2
    shift 2
    (
        until [ -e "$gate" ]; do sleep 0.001; done
        exec "$@"
    ) >"$where/$name.said" 2>&1 &
    tool_job[$name]=$!
}
# tool_ends NAME PATTERN: waits for the tool, and sets $ended to its exit status. The tool must
# succeed, report that the dataset is in use, or print a message that matches the pattern.
tool_ends() {
    ended=0
    wait "${tool_job[$1]}" || ended=$?
    [ $ended = 0 ] && return
    grep -q -e ' is [a-z ]* by process [0-9]* on host [^ ]* since 20' -e "$2" "$where/$1.said" && return
    echo "$1: status $ended: $(cat "$where/$1.said")"
    return 1
}
read_joined() { # EPOCHS
    actor joined 1 "$where/o.nc" && must joined "beside $1" && [[ $reply = "ok $1 records"* || $reply = "ok $(($1 - 1)) records"* ]] &&
        actor_end joined && rm "$where/o.nc"
}
tools_contend() { # STACK ROUNDS
    local a=$where/t.$1.nc round epoch=0 h gate joins=0 nobody=0 any_refusal=1
    h=$(hints "$1")
    actor maker 2 "$a" "PNETCDF_HINTS=$h" && actor c1 1 "$a" "PNETCDF_HINTS=$h" && actor c2 1 "$a" "PNETCDF_HINTS=$h" &&
        must maker create 'put 0' close || return
    for ((round = 0; round < $2; round++)); do
        gate=$where/t.$1.$round
        killed_owner "$a" "$h" $((epoch + 1)) || return
        tool join "$gate.tools" ./ncmpijoin "$a" "$where/o.nc"
        tool compact "$gate.tools" ./ncmpijoin --compact "$a"
        : >"$gate.tools"
        sleep "0.$((RANDOM % 10))" # a tool takes longer to start
        contend "$gate" c1:open c2:open && tool_ends compact 'did not close it\|not stored in frames' || return
        [ $ended != 0 ] || { echo "a dataset that nobody closed was compacted"; return 1; }
        tool_ends join 'another job' || return
        epoch=$((epoch + 2))
        if [ $ended = 0 ]; then
            joins=$((joins + 1))
            read_joined $((epoch + 1)) || { echo "round $round: $reply"; return 1; }
        fi
        [ ${#winners[@]} -le 1 ] || { echo "round $round: ${#winners[@]} winners"; return 1; }
        # --compact holds the lease until it finds that the dataset was not closed.
        [ $ended = 0 ] || [ ${#winners[@]} = 1 ] || nobody=$((nobody + 1))
        [ ${#winners[@]} = 1 ] || { must c1 open && winners=(c1); } || return
        must "${winners[0]}" "put $epoch" close && must maker "check $((epoch + 1))" || return
    done
    for k in maker c1 c2; do actor_end $k; done
    echo "# $1: $2 rounds with tools, $joins joins, $nobody without a winner" >>"$where/notes"
    [ $nobody -lt "$2" ]
}
check "a job or a tool takes over from a killed owner: blob" tools_contend blob 3
check "a job or a tool takes over from a killed owner: compress" tools_contend compress 2

# Runs ncmpi_delete while a job opens the dataset and --compact runs. Afterwards, the dataset must
# be either deleted or intact.
delete_contends() { # ROUNDS
    local a=$where/d.nc round gate any_refusal=1 deleted=0 h=${stacks[compress]}
    actor maker 2 "$a" "PNETCDF_HINTS=$h" && actor c1 1 "$a" "PNETCDF_HINTS=$h" && actor c2 1 "$a" "PNETCDF_HINTS=$h" || return
    for ((round = 0; round < $1; round++)); do
        gate=$where/d.$round
        must maker create 'put 0' 'put 1' close || return
        tool compact "$gate" ./ncmpijoin --compact "$a"
        contend "$gate" c1:open c2:delete && tool_ends compact 'No such file\|another job\|replaced\|other file' || return
        case " ${winners[*]} " in
        *' c1 '*) must c1 'put 2' && ask c1 close ;;
        esac
        if [[ " ${winners[*]} " = *' c2 '* ]]; then
            deleted=$((deleted + 1))
            ls "$a"* 2>/dev/null && [[ " ${winners[*]} " != *' c1 '* ]] && return 1
        else
            must maker 'beside 3' || return
        fi
        case " ${winners[*]} " in
        *' c1 '*) [[ " ${winners[*]} " != *' c2 '* ]] || { echo "it was opened and deleted at once"; return 1; } ;;
        esac
    done
    for k in maker c1 c2; do actor_end $k; done
    echo "# $1 rounds with ncmpi_delete, $deleted deletes" >>"$where/notes"
}
check "ncmpi_delete deletes all of a dataset or nothing" delete_contends 5
cat "$where/notes" 2>/dev/null
finish
