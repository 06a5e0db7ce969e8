#!/bin/bash
# Checks the boundaries between modules: which headers a module includes, which names it defines,
# and which functions the library must never call. doc/architecture.md gives the reasons.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
export LC_ALL=C

# Each module, and the modules whose headers it may include:
laws='base base
cdf cdf base
conv conv base
journal journal cdf base
cdl cdl cdf conv base
region region base
trace trace dataset base cdf
hints hints base
dataset dataset hints base cdf
access access base cdf conv region
driver driver access dataset trace base cdf conv region
node node dataset base
file file node dataset trace base cdf journal
twophase twophase file node access dataset trace base cdf conv region
nc4 nc4 driver file node access dataset trace hints base cdf conv region
mpio mpio driver twophase file node access dataset trace base cdf conv region journal
subfile subfile base cdf conv region
blob blob subfile driver file node access dataset trace base cdf conv region
burst burst driver file node access dataset trace base cdf conv region
stage stage driver file node access dataset trace base cdf conv region
api api driver file node access dataset trace base cdf cdl conv region'

# These exceptions are permitted: a dataset contains counters, its agreements are traced, and
# <sys/file.h> is a system header.
exceptions='dataset.h trace_stats.h
dataset.c trace_record.h
base_lock.c sys/file.h'

# Lists the sources of the library, including generated ones.
sources() {
    find "$top/src/lib" src/lib -name '*.[ch]' | sed 's|^\./||' | sort -u
}

# Prints a line "FILE MODULE HEADER" for every include.
includes() {
    sources | while read -r file; do
        module=${file#*src/lib/}
        sed -nE "s|^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<\"]([^>\"]*)[>\"].*|$file ${module%%/*} \1|p" "$file"
    done
}

every_module_has_a_rule() {
    local module bad=0
    for module in $(sources | sed 's|.*src/lib/||; s|/.*||' | sort -u); do
        grep -q "^$module " <<<"$laws" || { echo "no law for $module"; bad=1; }
    done
    return $bad
}

# A header belongs to the module whose directory contains it.
includes_keep_the_law() {
    {
        echo "$laws" | sed 's/^/law /'
        echo "$exceptions" | sed 's/^/but /'
        sources | sed -nE 's|.*src/lib/([^/]*)/.*/?([^/]*\.h)$|home \1 &|p'
        includes | sed 's/^/inc /'
    } | awk '
        $1 == "law" { for (i = 3; i <= NF; i++) may[$2, $i] = 1 }
        $1 == "but" { but[$2, $3] = 1 }
        $1 == "home" { name = $3; sub(".*/", "", name); home[name] = $2 }
        $1 == "inc" {
            n++
            name = $4; sub(".*/", "", name)
            file = $2; sub(".*/", "", file)
            if (name in home && !(($3, home[name]) in may) && !((file, name) in but) && !((file, $4) in but)) {
                print $2 " includes " $4
                bad = 1
            }
        }
        END { exit bad || n == 0 }'
}

# These modules must not include mpi.h, directly or indirectly.
no_mpi_where_none_belongs() {
    includes | awk '
        { from = $1; sub(".*/", "", from); module[from] = $2
          to = $3; sub(".*/", "", to); edge[++n] = from " " to }
        END {
            reach["mpi.h"] = 1
            for (again = 1; again;) {
                again = 0
                for (i = 1; i <= n; i++) {
                    split(edge[i], e, " ")
                    if ((e[2] in reach) && !(e[1] in reach)) { reach[e[1]] = 1; again = 1 }
                }
            }
            for (f in module)
                if ((f in reach) && module[f] ~ /^(cdf|cdl|conv|journal|nc4|region|subfile)$/ &&
                    f !~ /^(region_mpi|nc4_driver|nc4_transfer)\.[ch]$/) {
                    print f " reaches mpi.h"
                    bad = 1
                }
            exit bad || n == 0
        }'
}

files_have_their_modules_prefix() {
    sources | awk '
        { n++; module = $1; sub(".*src/lib/", "", module); file = module
          sub("/.*", "", module); sub(".*/", "", file)
          if (index(file, module "_") != 1 && file != module ".c" && file != module ".h") {
              print; bad = 1
          } }
        END { exit bad || n == 0 }'
}

file_names_are_unique() {
    find "$top/src" "$top/include" "$top/test" "$top/benchmarks" "$top/examples" \
        -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.sh' -o -name '*.m4' -o -name '*.awk' |
        sed 's|.*/||' | sort | uniq -d | awk '{ print; bad = 1 } END { exit bad }'
}

# ---- symbols of the object files: "OBJECT KIND SYMBOL" ----

symbols() {
    find src/lib -name '*.o' ! -name 'test_*' -print0 | xargs -0 nm -A |
        sed -nE 's/^([^:]*):[0-9a-f ]* ([A-Za-z]) ([^@]*).*/\1 \2 \3/p'
}

symbols_have_their_modules_prefix() {
    symbols | awk '
        $2 !~ /^[TDBRCVGS]$/ || $3 ~ /^_/ { next }
        { n++; module = $1; sub(".*src/lib/", "", module); sub("/.*", "", module)
          if (index($3, module "_") == 1) next
          if (module == "api" && $3 ~ /^(ncmpix?|cdl_hdr)_/) next
          print $1 " defines " $3; bad = 1 }
        END { exit bad || n == 0 }'
}

# unused PATTERN [OBJECT-PATTERN]: succeeds if no object uses a symbol that matches PATTERN, except
# for objects that match OBJECT-PATTERN.
unused() {
    symbols | awk -v what="^($1)\$" -v but="/(${2:-none})\\\\.o\$" '
        $2 == "U" { n++ }
        $2 == "U" && $3 ~ what && $1 !~ but { print $1 " uses " $3; bad = 1 }
        END { exit bad || n == 0 }'
}

check "every module has a rule" every_module_has_a_rule
check "modules include only headers that their rules allow" includes_keep_the_law
check "cdf, cdl, conv, journal, region, subfile and most of nc4 do not include mpi.h" no_mpi_where_none_belongs
check "files carry their module's name" files_have_their_modules_prefix
check "file names are unique" file_names_are_unique
check "symbols carry their module's name" symbols_have_their_modules_prefix
check "only file calls MPI_File functions" unused 'P?MPI_File_.*' 'file_(open|size|transfer)'
check "only node determines the node and allocates its memory" \
    unused 'P?MPI_(Comm_split_type|Win_.*)' 'node_(find|shared)'
# Truncating a file loses data if another process has extended it in the meantime. The objects
# listed here truncate only files that no other process writes. All others must call base_extend,
# which only extends a file.
check "no file that others write is truncated" \
    unused 'f?truncate(64)?|base_resize' \
    '(base_io|file_open|file_transfer|journal_file|stage_space)'
# Exceptions: CDL and hints may come through a pipe, which the library waits for; the generated
# scanner does its own reads; and a socket is not a file.
check "only base and file open, read, write and lock files" \
    unused '(open|openat|creat|p?readv?|p?writev?|fsync|fdatasync|sync_file_range|flock|fcntl|lockf)(64)?' \
    '(base_(io|fs|lock)|hints_file|file_[a-z]*|api_cdl|cdl_scanner|stage_(client|server))'
# The variants of these functions without the suffix _c abort the program if a datatype has large
# counts.
check "only region_mpi decodes datatypes" \
    unused 'P?MPI_Type_get_(envelope|contents)(_c)?' 'region_mpi'
# cdf_name must free the result of utf8proc.
check "only base_worker creates threads" unused 'pthread_(create|join|detach)|thrd_create' 'base_worker'
check "memory is allocated only through base_mem" \
    unused 'malloc|calloc|realloc|free|strdup|strndup|asprintf' 'base_mem|cdf_name'
check "the library never ends the program" \
    unused 'exit|_exit|abort|__assert_fail|quick_exit|P?MPI_Abort'
# The hints module prints a warning if it cannot parse PNETCDF_HINTS.
check "the library prints nothing" \
    unused 'v?printf|v?fprintf|__f?printf_chk|puts|fputs|putchar|perror|std(out|err)' \
    'hints'
finish
