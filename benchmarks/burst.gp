# Plots the visible time as a function of the gap. `data` is the table that burst_table.awk -v
# plot=1 prints; `out` is the output file.
set datafile separator "\t"
set datafile missing "?"
set terminal svg size 760, 480 font "sans,11" background "white"
set output out
set key outside top center vertical maxrows 4
set colorsequence podo
set xlabel "time between checkpoints / time to write one directly"
set ylabel "visible I/O time, ms"
set yrange [0:]
set grid
columns = int(system("head -n 1 " . data . " | tr '\t' '\n' | wc -l"))
plot for [c = 2:columns] data using 1:(column(c)) with linespoints pointtype c title columnheader(c)
