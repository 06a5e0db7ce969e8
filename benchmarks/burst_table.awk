# Prints the medians of the burst benchmarks as a Markdown table. With -v plot=1 it prints the input
# of burst.gp instead: the visible time by gap, for each library and way. Each input line has the
# library and a line of the benchmark program's output.
BEGIN { FS = OFS = "\t" }

function median(key, column,    n, i, j, t, v) {
    n = split(values[key, column], v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

function add(column, value) { values[key, column] = values[key, column] " " value }

$3 ~ /^burst-/ {
    pattern = substr($3, 7)
    key = $1 OFS pattern OFS $6 OFS $5 OFS $7
    raw[key] = $1 OFS pattern OFS $6 OFS "raw" OFS $7
}
$3 ~ /^burst-/ && $2 == "time" {
    if (!(key in mb)) { keys[++nkeys] = key; mb[key] = $8 / $7 / 1e6 }
    add($4, $9)
}
$3 ~ /^burst-/ && $8 == "log_bytes" { add("log", $9) }

# Prints the time relative to the time for writing the same bytes to the log's device.
function times(key, column,    r) {
    r = raw[key] in mb ? median(raw[key], column) : 0
    return r > 0 ? sprintf("%.2f", median(key, column) / r) : "-"
}

function rate(key) { return times(key, "put") > 0 ? sprintf("%.2f", 1 / times(key, "put")) : "-" }

function table(    i, key, f) {
    print "| library | pattern | gap | way | processes | MB each | puts, ms | of raw's rate | visible, ms | times raw | total, ms | log, MB |"
    print "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= nkeys; i++) {
        key = keys[i]
        split(key, f, OFS)
        printf "| %s | %s | %s | %s | %s | %.1f | %.2f | %s | %.2f | %s | %.1f | %.1f |\n",
            f[1], f[2], f[3], f[4], f[5], mb[key], median(key, "put") * 1e3, rate(key),
            median(key, "visible") * 1e3, times(key, "visible"), median(key, "total") * 1e3, median(key, "log") / 1e6
    }
}

# Returns the legend's text for the results of one library and way.
function legend(library, way) {
    sub(/^ours$/, "ncmpi", library)
    sub(/^peer$/, "PnetCDF", library)
    return way == "raw" ? meaning[way] : library ", " (way in meaning ? meaning[way] : way)
}

# Prints one line per gap, with a column for each library and way that was measured with gaps.
function columns(    i, f, name, line, g, n) {
    meaning["raw"] = "the same bytes written to the log\047s device"
    meaning["direct"] = "without a log"
    meaning["close"] = "logged, drained at close"
    meaning["immediate"] = "logged, drained in the background"
    for (i = 1; i <= nkeys; i++) {
        split(keys[i], f, OFS)
        if (f[2] != "checkpoint") continue
        name = legend(f[1], f[4])
        if (!(name in seen)) { seen[name]; names[++n] = name }
        if (!(f[3] in at)) { at[f[3]]; gaps[++g] = f[3] }
        cell[f[3], name] = median(keys[i], "visible") * 1e3
    }
    line = "gap"
    for (i = 1; i <= n; i++) line = line OFS names[i]
    print line
    for (f[1] = 1; f[1] <= g; f[1]++) {
        line = gaps[f[1]]
        for (i = 1; i <= n; i++) line = line OFS ((gaps[f[1]], names[i]) in cell ? cell[gaps[f[1]], names[i]] : "?")
        print line
    }
}

END { if (plot) columns(); else table() }
