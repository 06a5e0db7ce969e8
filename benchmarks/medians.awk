# Reads measurements and computes medians. Used by tables.awk and aims.awk.
#   -v cpu=1               rates by CPU time instead of elapsed time
# Each input line has the library, the directory, and a line of the benchmark program's output:
#   time WORKLOAD OP WAY VARIANT PROCESSES BYTES WALL CPU
#   count WORKLOAD OP WAY VARIANT PROCESSES WHAT MOST SUM
# A row is identified by DIRECTORY PROCESSES WORKLOAD OP VARIANT. Rows keep the order of the input.
BEGIN { FS = OFS = "\t" }

function median(key,    n, i, j, t, v) {
    n = split(values[key], v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

function known(key) { return key in values }

$3 == "time" {
    row = $2 OFS $8 OFS $4 OFS $5 OFS $7
    if (!(row in bytes)) { rows[++nrows] = row; bytes[row] = $9 }
    seconds = cpu && $9 > 0 ? $11 : $10
    if ($9 > 0) seconds *= bytes[row] / $9 # a way may stop early, so scale its time to all bytes
    values[row OFS $1 OFS $6] = values[row OFS $1 OFS $6] " " seconds
    libraries[$1]
    measured[$6]
    values[row OFS $1 OFS $6 OFS "cpu"] = values[row OFS $1 OFS $6 OFS "cpu"] " " $11
}

$3 == "count" && $6 == "lib" {
    row = $4 OFS $5 OFS $7 OFS $8 OFS $1
    if (!(row in counted)) { counted[row]; counts[++ncounts] = row }
    most[row OFS $9] = $10
    sum[row OFS $9] = $11
}

# Returns the time of the fastest raw way in a library's own runs, or 0 if none was measured.
function raw(row, lib,    best, w, n, i, t) {
    n = split("runs contig files", w, " ")
    for (i = 1; i <= n; i++)
        if (known(row OFS lib OFS w[i])) {
            t = median(row OFS lib OFS w[i])
            if (!best || t < best) best = t
        }
    return best
}
