# Compares measurements with the table of aims (aims.txt). For each row and number of processes,
# prints the worst result among the row's workloads and steps, and the workload and step that it
# comes from.
#   awk -f medians.awk -f aims.awk [-v cpu=1] aims.txt MEASUREMENTS
# The fraction of raw speed is taken from library `mpich`, or from `ours` if `mpich` was not
# measured. The speed relative to the peer is taken from library `ours`, which must have been
# measured with the peer's MPI.
BEGIN { FS = OFS = "\t" }

FILENAME == ARGV[1] {
    if (/^#/ || NF == 0) next
    naims++
    n = split($0, part, / *\| */)
    title[naims] = part[1]; works[naims] = part[2]; procs[naims] = part[3]
    fraction[naims] = part[4]; factor[naims] = part[5]; only[naims] = part[6]
    next
}

# Returns the result of one step: the fraction of the raw speed, or the extra microseconds per call.
function of_raw(row, lib, aim,    f, t, calls) {
    t = raw(row, lib)
    if (!t || !known(row OFS lib OFS "lib")) return ""
    if (aim !~ /^\+/) return t / median(row OFS lib OFS "lib")
    split(row, f, OFS)
    calls = bytes[row] / 8 / f[2]
    return (median(row OFS lib OFS "lib") - median(row OFS lib OFS "runs")) / calls * 1e6
}

function times_peer(row,    ours) {
    ours = row OFS "ours" OFS "lib"
    if (!known(ours) || !known(row OFS "peer" OFS "lib") || !median(ours)) return ""
    return median(row OFS "peer" OFS "lib") / median(ours)
}

function worse(value, than, more) { return than == "" || (more ? value > than : value < than) }

function cell(value, where) { return value == "" ? "-" : sprintf("%.2f (%s)", value, where) }

function meets(value, aim) {
    if (aim == "-" || value == "") return 1
    return aim ~ /^\+/ ? value <= substr(aim, 2) + 0 : value >= aim + 0
}

function line(a, n, folder,    i, f, w, v, row, mine, least, least_at, ratio, ratio_at, verdict) {
    mine = "mpich" in libraries ? "mpich" : "ours"
    least = ratio = ""
    for (i = 1; i <= nrows; i++) {
        row = rows[i]
        split(row, f, OFS)
        if (f[1] != folder || f[2] != n || !index(" " works[a] " ", " " f[3] " ")) continue
        if (only[a] != "" && f[4] != only[a]) continue
        w = f[3] " " f[4] (f[4] == "put" ? " " f[5] : "")
        v = of_raw(row, mine, fraction[a])
        if (v != "" && fraction[a] != "-" && worse(v, least, fraction[a] ~ /^\+/)) {
            least = v; least_at = w
        }
        v = times_peer(row)
        if (v != "" && worse(v, ratio, 0)) { ratio = v; ratio_at = w }
        if (v != "" && v < 1) slower[++nslower] = w ", " n " processes, " folder ": " sprintf("%.2f", v)
    }
    if (least == "" && ratio == "") return
    verdict = meets(least, fraction[a]) && meets(ratio, factor[a]) ? "yes" : "**no**"
    if ((fraction[a] != "-" && least == "") || ratio == "") verdict = verdict " (half measured)"
    printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", title[a], folder, n,
        cell(least, least_at), fraction[a], cell(ratio, ratio_at), factor[a], verdict
}

END {
    for (i = 1; i <= nrows; i++) { split(rows[i], f, OFS); if (!(f[1] in seen)) { seen[f[1]]; folders[++nfolders] = f[1] } }
    print "| workload | folder | procs | of raw, the worst | aim | times the peer, the worst | aim | met |"
    print "|---|---|---|---|---|---|---|---|"
    for (k = 1; k <= nfolders; k++)
        for (a = 1; a <= naims; a++) {
            n = split(procs[a], p, " ")
            for (i = 1; i <= n; i++) line(a, p[i], folders[k])
        }
    print ""
    for (i = 1; i <= nslower; i++) {
        if (i == 1) print "Slower than the peer (times as quick):\n"
        print "- " slower[i]
    }
    if (nslower) print ""
}
