# Prints tables with the medians of measurements.
#   -v names="ours peer"   the libraries, in the order of the columns
#   -v plot=1              prints the rates as a table for gnuplot instead
#   -v cpu=1               rates by CPU time instead of elapsed time
# Use: awk -f medians.awk -f tables.awk MEASUREMENTS
BEGIN { nnames = split(names, name, " ") }

# Returns the raw time measured in this library's runs or, if missing, in those of the first
# library.
function base(row, lib) { return raw(row, lib) ? raw(row, lib) : raw(row, name[1]) }

function rate(bytes, seconds) { return seconds > 0 ? sprintf("%.0f", bytes / seconds / 1e6) : "-" }

# Collects the ways other than the library, in the order of the columns.
function find_ways(    i, extra, title, n) {
    nways = split("runs contig", way, " ")
    n = split("files view hdf5", extra, " ")
    split("raw, files of their own|MPI-IO view|HDF5", title, "|")
    for (i = 1; i <= n; i++)
        if (extra[i] in measured) { way[++nways] = extra[i]; others = others " | " title[i] }
}

function transfer_row(row,    f, i, t, line, w) {
    split(row, f, OFS)
    line = "| " f[1] " | " f[2] " | " f[3] " | " f[4] " " f[5] " |"
    for (w = 1; w <= nways; w++)
        line = line " " (known(row OFS name[1] OFS way[w]) ? rate(bytes[row], median(row OFS name[1] OFS way[w])) : "-") " |"
    for (i = 1; i <= nnames; i++) {
        if (!known(row OFS name[i] OFS "lib")) { line = line " - | - |"; continue }
        t = median(row OFS name[i] OFS "lib")
        line = line " " rate(bytes[row], t) " | " (base(row, name[i]) && t > 0 ? sprintf("%.2f", base(row, name[i]) / t) : "-") " |"
    }
    print line
}

function other_row(row,    f, i, line, key) {
    split(row, f, OFS)
    line = "| " f[1] " | " f[2] " | " f[3] " | " f[4] " " f[5] " |"
    for (i = 1; i <= nnames; i++) {
        key = row OFS name[i] OFS "lib"
        line = line (known(key) ? sprintf(" %.2f | %.2f |", 1e3 * median(key), 1e3 * median(key OFS "cpu")) : " - | - |")
    }
    print line
}

function head(first, each,    i, line, rule, columns, k, c) {
    line = "| " first " |"
    for (i = 1; i <= nnames; i++) {
        c = each
        gsub("%", name[i], c)
        line = line " " c " |"
    }
    rule = line
    gsub(/[^|]+/, "---", rule)
    print line
    print rule
}

# Returns the number n of a variant n=N, or the number of segments per process (36 bytes each on
# average).
function size_of(row, f) {
    if (match(f[5], /n=/)) return substr(f[5], RSTART + 2) + 0
    return f[3] ~ /^unstructured-/ ? bytes[row] / f[2] / 36 : 0
}

# Returns the label for a rate of growth: the workload (`varn` for all workloads with segments), the
# step and the variant.
function title(f,    variant) {
    variant = f[5]
    sub(/ ?n=.*/, "", variant)
    return (f[3] ~ /^unstructured-/ ? "varn" : f[3]) " " f[4] (variant == "" ? "" : " " variant)
}

# Prints how CPU time grows with the number of items above 10^4: the slope of a line fitted to the
# points on logarithmic scales.
function exponents(    i, j, f, n, k, key, group, x, y, sx, sy, sxx, sxy, seen, order, norder, g) {
    for (i = 1; i <= nrows; i++) {
        split(rows[i], f, OFS)
        n = size_of(rows[i], f)
        if (n < 9000) continue
        for (j = 1; j <= nnames; j++) {
            key = rows[i] OFS name[j] OFS "lib" OFS "cpu"
            if (!known(key) || median(key) <= 0) continue
            g = f[1] ", " f[2] " processes, " title(f) ", " name[j]
            if (!(g in k)) order[++norder] = g
            x = log(n); y = log(median(key))
            k[g]++; sx[g] += x; sy[g] += y; sxx[g] += x * x; sxy[g] += x * y
        }
    }
    for (i = 1; i <= norder; i++) {
        g = order[i]
        if (k[g] < 2) continue
        if (!seen++) print "Exponents of growth of CPU time, from 10^4 names, segments or requests on:\n"
        printf "- %s: %.2f\n", g, (k[g] * sxy[g] - sx[g] * sy[g]) / (k[g] * sxx[g] - sx[g] ^ 2)
    }
    if (seen) print ""
}

# Prints the ratio of the time per byte on more processes to that on fewer processes.
function growth(from, to,    i, j, f, key, other, line, any) {
    for (i = 1; i <= nrows; i++) {
        split(rows[i], f, OFS)
        if (f[2] != from || bytes[rows[i]] == 0) continue
        other = f[1] OFS to OFS f[3] OFS f[4] OFS f[5]
        if (!(other in bytes)) continue
        line = "| " f[1] " | " f[3] " | " f[4] " " f[5] " |"
        for (j = 1; j <= nnames; j++) {
            key = OFS name[j] OFS "lib"
            line = line (known(rows[i] key) && known(other key) && median(rows[i] key) > 0 ? \
                sprintf(" %.2f |", median(other key) / bytes[other] / (median(rows[i] key) / bytes[rows[i]])) : " - |")
        }
        if (!any++) head("folder | workload | time per byte, " to " to " from " processes", "%")
        print line
    }
    if (any) print ""
}

# Reports measurements that have fewer repetitions than others because of the time limit.
function few(    i, j, key, n, v, most, any) {
    for (i = 1; i <= nrows; i++)
        for (j = 1; j <= nnames; j++) {
            n = split(values[rows[i] OFS name[j] OFS "lib"], v, " ")
            if (n > most) most = n
        }
    for (i = 1; i <= nrows && most >= 5; i++)
        for (j = 1; j <= nnames; j++) {
            key = rows[i] OFS name[j] OFS "lib"
            if (!known(key) || (n = split(values[key], v, " ")) >= 5) continue
            if (!any++) print "Measurements with fewer than 5 repetitions, because they take long:\n"
            split(rows[i], v, OFS)
            print "- " name[j] ", " v[2] " processes, " v[3] " " v[4] " " v[5] ", " v[1] ": " n
        }
    if (any) print ""
}

function tables(    i, any) {
    for (i = 1; i <= nrows; i++)
        if (bytes[rows[i]] > 0) {
            if (!any++) head("folder | procs | workload | MB/s of | raw, runs | raw, contig" others, "% | of raw")
            transfer_row(rows[i])
        }
    if (any) print ""
    any = 0
    for (i = 1; i <= nrows; i++)
        if (bytes[rows[i]] == 0) {
            if (!any++) head("folder | procs | workload | ms of", "% | its CPU")
            other_row(rows[i])
        }
    if (any) print ""
    exponents()
    growth(4, 16)
    few()
}

# MPI calls are counted on the process that makes the most. System calls are totals over all
# processes.
function count_table(    i, j, f, line, calls, nmpi, ncalls) {
    nmpi = split("collective point_to_point file_collective file_independent file_view file_other", calls, " ")
    ncalls = nmpi + split("write read seek sync", f, " ")
    for (i = nmpi + 1; i <= ncalls; i++) calls[i] = f[i - nmpi]
    if (ncounts) {
        print "| procs | workload | library | MPI: collective | point to point | file: collective | independent | view | other | system: write | read | seek | sync | MB written | read |"
        print "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    }
    for (i = 1; i <= ncounts; i++) {
        split(counts[i], f, OFS)
        line = "| " f[4] " | " f[1] " " f[2] " " f[3] " | " f[5] " |"
        for (j = 1; j <= ncalls; j++)
            line = line " " (j <= nmpi ? most[counts[i] OFS calls[j]] : sum[counts[i] OFS calls[j]]) + 0 " |"
        printf "%s %.2f | %.2f |\n", line, sum[counts[i] OFS "bytes_written"] / 1e6, sum[counts[i] OFS "bytes_read"] / 1e6
    }
    if (ncounts) print ""
}

function plot_rows(    i, j, f, line, t) {
    line = "what\traw"
    for (j = 1; j <= nnames; j++) line = line "\t" name[j]
    print line
    for (i = 1; i <= nrows; i++) {
        if (bytes[rows[i]] == 0) continue
        split(rows[i], f, OFS)
        t = raw(rows[i], name[1])
        line = f[3] " " f[4] " " f[5] " " f[2] "p " f[1] "\t" (t > 0 ? bytes[rows[i]] / t / 1e6 : "?")
        for (j = 1; j <= nnames; j++)
            line = line "\t" (known(rows[i] OFS name[j] OFS "lib") ? bytes[rows[i]] / median(rows[i] OFS name[j] OFS "lib") / 1e6 : "?")
        print line
    }
}

END {
    find_ways()
    if (plot) { plot_rows(); exit }
    tables()
    count_table()
}
