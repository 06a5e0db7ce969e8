# A table of the results.
/^result / {
    for (i = 2; i < NF; i += 2) r[$i] = $(i + 1)
    if (!titled++)
        printf "%-15s %-6s %6s %9s %8s %5s %9s %9s %8s %8s %7s %7s %6s %7s %7s\n", "workload",
            "phase", "procs", "ms", "GB/s", "of it", "messages", "KiB sent", "on node", "reads",
            "writes", "locks", "opens", "MiB", "window"
    printf "%-15s %-6s %6d %9.3f %8.2f %5.2f %9.1f %9.1f %8.1f %8d %7d %7d %6d %7.2f %7.2f\n",
        r["workload"], r["phase"], r["procs"], r["seconds"] * 1e3, r["rate"] / 1e9,
        r["fraction"], r["messages"], r["message_bytes"] / 1024, r["node_messages"],
        r["reads"], r["writes"], r["locks"], r["opens"], r["memory"] / 1048576,
        r["window"] / 1048576
    fflush()
    next
}
{ print }
