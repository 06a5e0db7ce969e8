# Plots the speed relative to PnetCDF using the table in README.md. `data` is the input file, and
# `out` the output file. Each workload and step is a row with one point per number of processes.
# Points on the vertical line mean equal speed.
set datafile separator "|"
stats data using 0 nooutput
rows = STATS_records
set terminal svg size 900, 120 + 18 * rows font "sans,11" background "white"
set output out
set key outside top center horizontal maxrows 3
set colorsequence podo
set logscale x 2
set xlabel "speed of ncmpi divided by that of PnetCDF; to the right of the line, ncmpi is faster"
set grid x
set yrange [rows:-1]
set xrange [0.5:64]
set arrow from 1, graph 0 to 1, graph 1 nohead linewidth 2 linecolor "gray40"
array name[7] = ["1 process", "2", "4", "16", "disk, 1 process", "disk, 2", "disk, 4"]
row(workload, step) = workload . " " . step
plot for [c = 1:7] data \
    using (column(c + 3)):0:ytic(row(strcol(2), strcol(3))) with points \
    pointtype (c < 5 ? 7 : 6) pointsize 0.8 linecolor (c < 5 ? c : c - 4) \
    title name[c]
