# Plots the visible time as a function of the gap. `data` is the table that burst_table.awk -v
# plot=1 prints; `out` is the output file.
set datafile separator "\t"
set datafile missing "?"
set terminal svg size 760, 480 font "sans,11" background "white"
set output out
set key outside top center horizontal
set xlabel "time between checkpoints / time to write one directly"
set ylabel "visible I/O time, ms"
set yrange [0:]
set grid
columns = words(system("head -n 1 " . data . " | tr '\t' ' '")) - 1
plot for [c = 2:columns + 1] data skip 1 using 1:(column(c)) with linespoints \
    pointtype c title word(system("head -n 1 " . data . " | tr '\t' ' '"), c)
