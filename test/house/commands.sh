#!/bin/bash
# Runs every command in every document, manual page and --help text. The commands of a document run
# in order, in an empty directory, with the files that `make install` installs. They find these
# through PATH and PKG_CONFIG_PATH, which README.md asks the reader to export, and programs find the
# library through the run path with which they are linked. commands.txt lists the commands that are
# not run, each with the reason or with the test that runs it. The script also checks that the index
# lists all documents, and that no link is broken.
top=$(realpath "${srcdir:-.}")
build=$PWD
. "$top/test/support/tap.sh"
scratch=$(realpath "$(mktemp -d)") || exit 99
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
export LC_ALL=C

documents() {
    (cd "$top" && ls README.md CONTRIBUTING.md doc/*.md examples/README.md benchmarks/*.md)
}
pages() { (cd "$top" && ls src/utils/*/*.1); }

# Distinguishes commands in a document's code blocks from output, diagrams and file excerpts.
is_command='^([A-Z_]+=[^ ]+ )*((\./|\.\./|\.\.\./|dev/|benchmarks/|\$srcdir/)[^ ]+|make|cc|mpi(cc|cxx|f90|exec|run)[.a-z]*|srun|nc(mpi)?[a-z]+|cdfdiff|pnetcdf[-_][a-z]+|export|awk|cmake|pkg-config|spack|dpkg-[a-z]+|ldd|gfortran|burst_run|autoreconf)( |$)'

# commands FILE: prints the file's commands in order, one per line, without trailing comments.
commands() {
    case $1 in
    *.md)
        awk '/^```/ { fence = !fence; shell = fence && /sh$/; next }
            !fence && /^    [^ ]/ || shell || more { more = /\\$/; sub(/^ +/, ""); sub(/^\$ /, ""); print }' "$top/$1" |
            sed -e :a -e '/\\$/N; s/ *\\\n */ /; ta' -e 's/   *#.*//' | grep -E "$is_command" ;;
    *.1)
        awk '/^\.SH/ { on = /EXAMPLES/; next } on && /^\.RS/ { take = 1; next }
            /^\.RE/ { take = 0 } take && !/^\./' "$top/$1" |
            sed -e 's/\\-/-/g; s/\\e/\\/g; s/\\(aq/'"'"'/g' ;;
    *)
        "$1" --help 2>/dev/null </dev/null | sed -n '/^Examples:$/,/^$/s/^  //p' ;;
    esac
}

# ---- environment for the commands ----

# Creates an mpiexec that works even if the machine is busy, and links to the compiler wrappers.
launcher() {
    cat >"$scratch/bin/mpiexec" <<END
#!/bin/bash
. "$top/test/support/launch.sh"
n=1
while [ "\${1-}" = -n ] || [ "\${1-}" = -np ]; do n=\$2; shift 2; done
launch_prepare "\$n"
exec timeout 100 "\${launch_command[@]}" "\$@"
END
    chmod +x "$scratch/bin/mpiexec"
    local kind
    for kind in cc cxx f90; do
        command -v "${MPICC/mpicc/mpi$kind}" >/dev/null &&
            ln -s "$(command -v "${MPICC/mpicc/mpi$kind}")" "$scratch/bin/mpi$kind"
    done
    return 0
}

install_it() {
    mkdir -p "$scratch/bin" && make -s install DESTDIR="$scratch/dest" >"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; return 1; }
    prefix=$scratch/dest$(src/utils/pnetcdf-config/pnetcdf-config --prefix)
    export PATH=$scratch/bin:$PATH MPIEXEC MPI_FLAVOUR
    unset LD_LIBRARY_PATH PKG_CONFIG_PATH
    launcher
}

# furnish DIRECTORY: creates the files that the documents assume to exist.
furnish() {
    cd "$1" && mkdir build && ln -s "$build" build/work &&
        ln -s "$top/examples" "$top/packaging" . && cp "$top"/doc/slow/slow_cases.c "$top"/test/serial/{ocean.c,river.f} . || return
    sed -n '/^```c$/,/^```$/{/^```/d;p}' "$top/README.md" >ranks.c
    sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$top/doc/cxx.md" >squares.cpp
    local name
    for name in a b file here old run template text there; do
        sed "s/netcdf run/netcdf $name/" "$top/test/house/commands.cdl" >"$name.cdl" &&
            "$prefix/bin/ncmpigen" -o "$name.nc" "$name.cdl" || return
    done
    cp "$build/examples/C/first_file" model
    head -c 5000 old.nc >broken.nc
    ! command -v ncgen >/dev/null || ncgen -k nc4 -o new4.nc old.cdl
    PNETCDF_TRACE=t.json mpiexec -n 2 ./model >/dev/null
}

# how FILE COMMAND: prints how commands.txt says the command is tested, or "run" if it has no entry.
how() {
    local file pattern way
    while IFS= read -r line; do
        file=${line%% :: *} way=${line##* :: } pattern=${line#* :: } pattern=${pattern% :: *}
        # shellcheck disable=SC2053  # a pattern
        [[ $1 = $file && $2 = $pattern ]] || continue
        echo "$line" >>"$scratch/used"
        echo "$way"
        return
    done <"$scratch/table"
    echo run
}

# run_one COMMAND: runs the command in a shell, with the variables that earlier commands exported.
# Exported hints are dropped, because a document may show several alternatives.
run_one() {
    local command=${1//\/opt\/ncmpi/$prefix}
    case $command in
    export\ PNETCDF_*) ;;
    export\ *) echo "$command" >>"$exports" ;;
    esac
    timeout $((120 * ${NCMPI_TEST_TIME_SCALE:-1})) bash -o pipefail -c \
        ". '$scratch/exports'; [ ! -e '$exports' ] || . '$exports'; $command" \
        </dev/null >"$scratch/said" 2>&1 || {
        echo "failed: $1"
        tail -n 10 "$scratch/said"
        return 1
    }
}

# all_run FILE NAME: runs all commands of the file in the directory NAME.
all_run() {
    local command way bad=0 exports=$scratch/$2.exports
    mkdir -p "$scratch/$2"
    commands "$1" >"$scratch/commands"
    [ -s "$scratch/commands" ] || return 0
    furnish "$scratch/$2" || return
    while IFS= read -r command; do
        way=$(how "${3-$1}" "$command")
        case $way in
        run)
            echo "$command" >>"$scratch/ran"
            run_one "$command" || bad=1 ;;
        no:?*) ;;
        *) [ -f "$top/$way" ] || { echo "$command: there is no $way"; bad=1; } ;;
        esac
    done <"$scratch/commands"
    [ "$1" != README.md ] || grep -v LD_LIBRARY_PATH "$exports" >"$scratch/exports"
    cd "$build" || return
    rm -rf "${scratch:?}/$2"
    return $bad
}

# ---- all documents ----

in_index() {
    local file bad=0
    for file in "$top"/doc/*.md; do
        file=${file##*/}
        [ "$file" = README.md ] || grep -q "]($file)" "$top/doc/README.md" ||
            { echo "doc/README.md does not lead to $file"; bad=1; }
    done
    for file in $(pages); do
        file=$(basename "$file" .1)
        grep -q "\`$file\`" "$top/doc/README.md" || { echo "doc/README.md does not name $file"; bad=1; }
    done
    return $bad
}
links_lead() {
    local file link bad=0
    for file in $(documents) CHANGELOG.md; do
        for link in $(grep -oE '\]\([^)# ]+' "$top/$file" | cut -c3- | grep -v ://); do
            [ -e "$top/$(dirname "$file")/$link" ] || { echo "$file: $link"; bad=1; }
        done
        for link in $(grep -oE '`(doc|dev|test|examples|src|benchmarks)/[A-Za-z0-9_./-]+`' "$top/$file" | tr -d '`' |
            grep -vE 'NAME|MODULE|TOOL'); do
            [ -e "$top/$link" ] || compgen -G "$top/${link%.*}*" >/dev/null ||
                grep -q "^$link\b" "$top/test/tests.list" || [ -e "$build/$link" ] ||
                { echo "$file: $link"; bad=1; }
        done
    done
    return $bad
}
every_tool_has_examples() {
    local tool bad=0
    for tool in "$prefix"/bin/*; do
        [ -n "$(commands "$tool")" ] || { echo "${tool##*/} --help has no examples"; bad=1; }
    done
    return $bad
}
# Entries of commands.txt that match no command must be removed.
rows_are_used() { sort -u "$scratch/used" | comm -23 <(sort "$scratch/table") - | grep . && return 1; return 0; }
many_ran() { wc -l <"$scratch/ran" && [ "$(wc -l <"$scratch/ran")" -gt 40 ]; }

grep -vE '^(#|$)' "$top/test/house/commands.txt" >"$scratch/table"
: >"$scratch/used"
: >"$scratch/exports"
check "every document and tool is in the index" in_index
check "links lead to existing files" links_lead
if ! command -v pkg-config >/dev/null || ! command -v ncdump >/dev/null || ! command -v nf-config >/dev/null; then
    skip "commands run" "no pkg-config, ncdump or nf-config"
    finish
fi
install_it >"$scratch/said" 2>&1 # in this shell, because it sets variables
installed=$?
check "make install succeeds" sh -c "cat '$scratch/said'; exit $installed"
[ $installed = 0 ] || finish
for file in $(documents) $(pages); do
    if [ -n "$(commands "$file")" ]; then
        check "commands in $file work" all_run "$file" "$(basename "$file" .md)"
    fi
done
. "$scratch/exports"
check "every tool's --help has examples" every_tool_has_examples
for tool in "$prefix"/bin/*; do
    check "commands in ${tool##*/} --help work" all_run "$tool" help "${tool##*/} --help"
done
check "commands that are not run are in a document" rows_are_used
check "many commands were run" many_ran
finish
