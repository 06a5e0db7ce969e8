# Sourced by run-mpi and by test scripts that start MPI programs.
#
#   MPIEXEC, MPI_FLAVOUR    the launcher and its kind (mpich, openmpi, other)
#   NCMPI_YIELD             library to preload that makes waiting processes yield (MPICH)
#   NCMPI_TEST_NODES        number of nodes to use, simulated by test/support/nodes
#   NCMPI_TEST_LIMIT        seconds that a launch may take (default 60)
#   NCMPI_TEST_TIME_SCALE   factor for every time limit (default 1)

export NCMPI_TEST_RUN="$$.$RANDOM.$RANDOM"   # marks every process that is started here

# Distributes $1 processes over the nodes that test/support/nodes created. The processes communicate
# by TCP.
launch_spread() {
    local k each=$((($1 + NCMPI_TEST_NODES - 1) / NCMPI_TEST_NODES)) hosts=
    for k in $(seq "$NCMPI_TEST_NODES"); do hosts+=,10.77.0.$k:$each; done
    launch_command+=(-launcher ssh -launcher-exec "$NCMPI_TEST_ENTER"
        -localhost 10.77.0.254 -hosts "${hosts#,}"
        -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0)
}

# Sets the array launch_command to the command that starts $1 processes.
launch_prepare() {
    launch_command=("${MPIEXEC:-mpiexec}" -n "$1")
    case ${MPI_FLAVOUR-} in
    openmpi)
        launch_command+=(--allow-run-as-root --oversubscribe --bind-to none
            --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl self,vader
            --mca btl_vader_single_copy_mechanism none) ;;
    mpich)
        if [ -n "${NCMPI_TEST_NODES-}" ]; then launch_spread "$1"; fi
        if [ -n "${NCMPI_YIELD-}" ] && [ -e "$NCMPI_YIELD" ]; then
            launch_command+=(-genv LD_PRELOAD "$NCMPI_YIELD${LD_PRELOAD:+:$LD_PRELOAD}")
        fi ;;
    esac
}

# Lists the running processes that this shell has started. Recognizes them by a mark in their
# environment.
launch_survivors() {
    local file pid
    for file in $(grep -lsz "^NCMPI_TEST_RUN=$NCMPI_TEST_RUN\$" /proc/[0-9]*/environ); do
        pid=${file#/proc/} pid=${pid%/environ}
        if [ -e "$file" ]; then echo "$pid"; fi  # skips the grep process, which has ended
    done
}

# Prints stack traces of the MPI processes as TAP comments.
launch_stacks() {
    local pid
    command -v gdb >/dev/null || return 0
    for pid in $(launch_survivors); do
        case $(readlink "/proc/$pid/exe") in */bash|*/dash|*/timeout|*hydra*|*mpiexec*|*orte*) continue ;; esac
        echo "# stack of process $pid:"
        timeout 20 gdb -p "$pid" -batch -nx -ex 'bt 20' </dev/null 2>/dev/null |
            grep '^#' | sed 's/^/#   /'
    done
}

# Kills the MPI processes and waits until they have ended. If $1 is set, it is the process id of the
# launcher, which first gets a chance to clean up.
launch_kill() {
    local pids try
    if [ -n "${1-}" ] && kill -TERM "$1" 2>/dev/null; then
        for try in 1 2 3 4 5 6 7 8 9 10; do
            kill -0 "$1" 2>/dev/null || break
            sleep 0.1
        done
    fi
    for try in 1 2 3 4 5 6 7 8 9 10; do
        pids=$(launch_survivors)
        [ -n "$pids" ] || return 0
        kill -KILL $pids 2>/dev/null
        sleep 0.$try
    done
    return 0
}

# launch [-t SECONDS] N PROGRAM ARG...: runs the program on N processes and returns the launcher's
# status. If the program hangs, prints stack traces, kills all processes and returns 124.
launch() {
    local limit=${NCMPI_TEST_LIMIT:-60} status line end out pid
    if [ "$1" = -t ]; then limit=$2; shift 2; fi
    limit=$((limit * ${NCMPI_TEST_TIME_SCALE:-1}))
    launch_prepare "$1"; shift
    end=$((SECONDS + limit))
    exec {out}< <(exec "${launch_command[@]}" "$@" </dev/null)
    pid=$!
    while :; do
        status=0
        IFS= read -r -t $((end > SECONDS ? end - SECONDS : 1)) line <&$out || status=$?
        if [ $status = 0 ]; then printf '%s\n' "$line"; continue; fi
        if [ $status -le 128 ]; then break; fi
        printf '%s' "$line"
        if [ $SECONDS -lt $end ]; then continue; fi
        echo "# no end after $limit seconds: ${launch_command[*]} $*"
        launch_stacks
        launch_kill "$pid"
        break
    done
    exec {out}<&-
    [ -z "$line" ] || [ $status -gt 128 ] || printf '%s\n' "$line"
    local rc=0
    wait "$pid" || rc=$?
    [ $status -le 128 ] || rc=124
    launch_kill
    return $rc
}
