#!/bin/bash
# Puts values while servers crash, hang or run out of space, or while a client is cut off. No
# process may wait forever, error messages must contain the file's name and the system's message,
# and values whose sync succeeded must be readable through another mount. dev/realfs runs this on
# real file systems.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
. "$top/test/support/on_nodes.sh"
. "$top/test/support/mounting.sh"
. "$top/test/support/hurting.sh"
export NCMPI_TEST_MOUNTS=$mounts
file=0
trap 'wait; unmount; umount "$mounts/store"; rm -rf "$mounts"' EXIT
mount -t tmpfs -o size=600m room "$mounts/store" || exit 99

# Waits until the program has synced the first round, causes the fault at a random moment after
# that, and ends the fault a few seconds later.
meanwhile() { # FAULT NOTES
    local -x NCMPI_TEST_RUN=
    until grep -qs '^1 .*sync' "$2.0"; do sleep 0.02; done
    sleep 0.0$((RANDOM % 10))
    hurt "$1" && sleep 4 && heal "$1"
}

# writes: succeeds if files with different names can be written on both mounts. Servers that were
# full, and clients that lost their connection, need time to recover, and each name may be on a
# different server.
writes() {
    local file
    for file in "$mounts"/m{1,2}/ready{1..9}; do takes "$file" || return; done
}

# written FAULT HINTS [moves]: runs four writers on two nodes, and causes the fault while they run.
written() {
    local notes=$mounts/notes$file
    rm -rf "$notes".* "$mounts/logs"
    mkdir "$mounts/logs"
    until_it writes
    meanwhile "$1" "$notes" &
    local hurting=$!
    PNETCDF_HINTS=$2 on_nodes 2 4 test/file/noted "$mounts/here/$file.nc" "$notes" ${3-}
    local rc=$?
    [ -s "$notes.0" ] || kill $hurting # the writers ended before the fault
    wait $hurting || rc=1
    return $rc
}

# Calls `written` with the same arguments, and checks the contents of the file.
reports_errors() {
    written "$@" || return
    # Restarted servers need time. If the file system itself has lost the file (MooseFS with a
    # single copy may lose data that is being written), then no process may have seen a successful
    # close.
    until_it cat "$mounts/m3/$file.nc" || {
        echo "the file system has lost the file" | tee "$mounts/said"
        ! grep ' 0 close:' "$mounts/notes$file".*
        return
    }
    [ "$1" != cut ] || end_session
    if ls "$mounts"/logs/*.meta >/dev/null 2>&1; then # left by a failed close
        launch 1 ./ncmpilog replay -f -r -d "$mounts/m3/$file.nc" "$mounts/logs" || return
    fi
    if [ "${3-}" = moves ]; then # finish an interrupted redefinition
        launch 1 ./ncvalidator -f "$mounts/m3/$file.nc"
    fi
    launch 1 test/file/noted "$mounts/m3/$file.nc" "$mounts/notes$file" 4 | tee "$mounts/said"
    local wrong=${PIPESTATUS[0]}
    cat "$mounts/notes$file".*
    return $wrong
}

# once FAULT HINTS [moves]: runs one test with a new file, and prints its output.
once() {
    file=$((file + 1))
    : >"$mounts/said"
    check "$mounted: $1${2:+, ${2%%=*}}${3:+, $3}" reports_errors "$@"
    sed 's/^/# /' "$mounts/said"
}

# Runs test/file/lost on a device that is nearly full.
lost() {
    can_mount late && ballast && test/file/lost "$mounts/m1/lost"
    local rc=$?
    heal full
    unmount
    return $rc
}

# behind KIND: makes a put fail for lack of space, at an offset beyond the end of the file as seen
# by its node.
behind() { # KIND
    can_mount "$1" && on_nodes 2 2 test/file/behind "$mounts/here/behind.nc" "$mounts/store" &&
        launch 1 test/file/behind "$mounts/m3/behind.nc"
    local rc=$?
    unmount
    return $rc
}

# aged KIND MINUTES: kills a job. Then pretends that the job's logs are ten minutes old, and that
# the file was last changed MINUTES ago, because opening the file may have updated its time.
aged() { # KIND MINUTES
    can_mount "$1" && rm -rf "$mounts/logs" && mkdir "$mounts/logs" || return
    PNETCDF_HINTS=$logs launch 1 test/file/aged put "$mounts/m1/aged.nc"
    test/file/aged age "$mounts/logs" 600 && touch -d "$2 minutes ago" "$mounts/m1/aged.nc" &&
        PNETCDF_HINTS=$logs launch 1 test/file/aged get "$mounts/m1/aged.nc" >"$mounts/out"
    local rc=$?
    cat "$mounts/out"
    unmount
    return $rc
}
newer() { # KIND
    ! aged "$1" 5 && grep -q 'was changed.* after its logs were written' "$mounts/out"
}

# left KIND: kills a program on one node while it moves data. A program on another node completes
# the redefinition. It must wait until it is certain that the first node is inactive, and must not
# mistake the effects of its own checks for activity.
left() { # KIND
    local killed=test/mpio/redef_killed name=$mounts/m1/left.nc at rc=1
    can_mount "$1" || return
    for at in 30 40 50 60 70 80; do # which call moves data depends on the mount
        rm -f "$name"* && launch 1 $killed make "$name" || break
        BURST_CALLS_DIR=$mounts/m1 BURST_KILL_AT=$at \
            unshare -u bash -c "hostname elsewhere && exec \"\$@\"" - $killed try "$name" 1
        [ "$(head -c 3 "$name")" = RDF ] || continue # the file has not been marked yet
        launch -t 10 1 ./ncvalidator -f "$mounts/m3/left.nc" && launch 1 $killed check "$mounts/m3/left.nc" 1 '' && rc=0
        break
    done
    unmount
    return $rc
}

logs="nc_burst_buf=enable;nc_burst_buf_shared_logs=enable;nc_burst_buf_dirname=$mounts/logs"
# Unless NCMPI_TEST_KINDS is set, each kind of mount is tested with a different third of the
# combinations of faults and ways of writing.
pair=0
for kind in ${NCMPI_TEST_KINDS:-through through+bare late}; do
    up= pair=$((pair + 1))
    for fault in ${NCMPI_TEST_FAULTS:-kill lost stop full slow cut}; do
        for way in plain moves subfile logs; do
            mounted=$kind pair=$((pair + 1))
            [ -n "${NCMPI_TEST_KINDS-}" ] || [ $((pair % 3)) = 0 ] || continue
            hurts $fault || continue
            if [ -z "$up" ]; then
                reason=$(can_mount $kind) || { skip "$kind" "$reason"; continue 3; }
                up=1
            fi
            case $way in
            plain) once $fault '' ;;
            moves) once $fault '' moves ;;
            subfile) once $fault nc_blob=enable ;;
            logs) once $fault "$logs" ;;
            esac
            case $fault in lost | cut) unmount; up= ;; esac # mounts do not recover from these
        done
    done
    unmount
    case $kind in bindfs* | through* | back | late*)
        check "$kind: a write without space truncates nothing" behind $kind
        check "$kind: logs of a killed job are found after caches expire" aged $kind 10
        check "$kind: logs of a killed job are refused if the file was changed" newer $kind
        check "$kind: another node finishes a redefinition" left $kind
        ;;
    esac
    [ $kind != late ] || check "$kind: lost writes are reported" lost
done
finish
