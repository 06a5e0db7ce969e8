# Functions for scripts in which several jobs use one dataset. Must be sourced after
# test/support/tap.sh and launch.sh. Each job is a lease_actor, which reads commands from a pipe and
# replies to each one.
where=$(scratch lease) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
trap '' PIPE # a job may end before it reads a command
seed=${NCMPI_TEST_SEED:-$RANDOM$RANDOM}
echo "# NCMPI_TEST_SEED=$seed"
fault=$PWD/test/support/.libs/fault.so calls=$PWD/test/burst/.libs/calls.so
limit=$((60 * ${NCMPI_TEST_TIME_SCALE:-1}))
echo 01234567-89ab-4cde-8f01-23456789abcd >"$where/boot" # boot id of another host, for BURST_BOOT
declare -A actor_in actor_out actor_pids actor_job

# actor NAME PROCESSES FILE [VARIABLE=VALUE...]: starts a job, with these environment variables.
actor() {
    local name=$1 n=$2 file=$3 in out line preload='' v
    shift 3
    mkfifo "$where/$name.in" "$where/$name.out" || return
    launch_command=()
    if [ "$n" != 1 ] || [ "${MPI_FLAVOUR-}" != mpich ]; then
        for v in "$@"; do [[ $v != LD_PRELOAD=* ]] || preload=${v#*=}; done
        LD_PRELOAD=$preload launch_prepare "$n" # with NCMPI_YIELD, the launcher sets LD_PRELOAD
    fi
    env "$@" "${launch_command[@]}" test/file/lease_actor "$file" "$seed" \
        <"$where/$name.in" >"$where/$name.out" 2>"$where/$name.err" &
    actor_job[$name]=$!
    exec {in}>"$where/$name.in" {out}<"$where/$name.out"
    rm "$where/$name.in" "$where/$name.out"
    actor_in[$name]=$in actor_out[$name]=$out
    hear "$name" || return
    line=${reply#pids }
    actor_pids[$name]=$line
    [ "$line" != "$reply" ]
}

# say NAME COMMAND: sends a command. hear NAME: sets $reply to the next reply. ask NAME COMMAND:
# does both.
say() { echo "$2" >&"${actor_in[$1]}"; }
hear() {
    reply=
    while IFS= read -r -t "$limit" reply <&"${actor_out[$1]}"; do
        case $reply in ok* | error* | differ* | pids*) return ;; esac # skips output from MPI
    done
    reply="no answer by $1: $(cat "$where/$1.err")"
    return 1
}
ask() { say "$1" "$2" && hear "$1"; }

# must NAME COMMAND...: sends these commands one after another, and succeeds if all of them do.
must() {
    local name=$1 command
    shift
    for command; do
        ask "$name" "$command" && [[ $reply = ok* ]] && [[ $reply != *' wrong'* || $reply = *' 0 wrong' ]] && continue
        echo "$name: $command: $reply"
        return 1
    done
}

# refused TEXT PIDS PURPOSE: checks that TEXT is the message of a refusal, which names one of these
# processes, this host, a time, and the purpose for which the process uses the dataset. PURPOSE is a
# grep pattern for that purpose.
refused() {
    local pid
    for pid in $2; do
        grep -q " is $3 by process $pid on host $(hostname) since 20..-..-.. ..:..:.. UTC" <<<"$1" && return
    done
    echo "not as expected, by one of process $2, '$3': $1"
    return 1
}

actor_signal() { kill "-$1" ${actor_pids[$2]}; } # SIGNAL NAME
actor_is_stopped() {                             # NAME: waits until all processes of the job have stopped
    local pid state try
    for pid in ${actor_pids[$1]}; do
        for ((try = 0; ; try++)); do
            state=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) || return # it has ended
            [ "${state%% *}" = T ] && break
            [ "${state%% *}" != Z ] || return
            [ $try -lt $((limit * 100)) ] || return
            sleep 0.01
        done
    done
}

# actor_end NAME: ends a job with a command. Closing its pipes is not enough, because jobs that were
# started later have inherited them. actor_kill NAME: kills all processes of the job, even if they
# are stopped.
actor_end() { say "$1" quit && actor_gone "$1"; }
actor_kill() {
    kill -KILL ${actor_pids[$1]} 2>/dev/null
    actor_gone "$1"
}
actor_gone() {
    local in=${actor_in[$1]} out=${actor_out[$1]}
    exec {in}>&- {out}<&-
    wait "${actor_job[$1]}" 2>/dev/null
    unset "actor_in[$1]" "actor_out[$1]" "actor_pids[$1]" "actor_job[$1]"
    return 0
}

# hashes DIRECTORY: prints the hash of each file in it.
hashes() { (cd "$1" && find . -type f -exec sha256sum {} + | sort -k2); }

# The hints for each driver stack. Subfiles are used only if at least two processes put.
declare -A stacks=(
    [blob]='nc_blob=enable;nc_num_subfiles=2'
    [compress]='nc_blob=enable;nc_num_subfiles=2;nc_compress=zstd'
    [joinclose]='nc_blob=enable;nc_num_subfiles=2;nc_blob_join=close'
    [blobburst]='nc_blob=enable;nc_num_subfiles=2;nc_burst_buf=enable')
# hints STACK DIRECTORY: prints the stack's hints. Logs are stored in DIRECTORY.
hints() {
    local text=${stacks[$1]}
    case $text in *nc_burst_buf*) mkdir -p "$2" && text+=";nc_burst_buf_dirname=$2" ;; esac
    echo "$text"
}
