# Prints a table of results from `run --seeds`: the median over all repetitions and seeds, and the
# ratio of the 99th percentile (or of the maximum, if there are fewer than 100 values) to the
# median: awk [-v markdown=1] -f noise.awk RESULTS.
function at(key, part,    n, i, j, t, v) {
    n = split(times[key], v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    i = int(part * n)
    return v[i < part * n || i == 0 ? i + 1 : i]
}
/^result / {
    for (i = 2; i < NF; i += 2) r[$i] = $(i + 1)
    key = r["workload"] " " substr(r["phase"], 1, 3) " " r["procs"]
    if (!(key in times)) order[++keys] = key
    times[key] = times[key] " " r["seconds"]
    count[key]++
    ideal[key] = r["bytes"] / r["limit"]
    next
}
{ print }
END {
    line = markdown ? "| %s | %s | %s | %s | %s | %s | %s |\n" : "%-15s %-5s %6s %6s %9s %6s %8s\n"
    printf line, "workload", "phase", "procs", "calls", "ms", "of it", "p99"
    if (markdown) print "|---|---|---:|---:|---:|---:|---:|"
    for (k = 1; k <= keys; k++) {
        split(order[k], part, " ")
        m = at(order[k], 0.5)
        printf line, part[1], part[2], part[3], count[order[k]], sprintf("%.2f", m * 1e3), \
            sprintf("%.2f", ideal[order[k]] / m), sprintf("%.2f", at(order[k], 0.99) / m)
    }
}
