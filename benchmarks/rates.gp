# Plots rates. `data` is the table that tables.awk -v plot=1 prints; `out` is the output file.
set datafile separator "\t"
set datafile missing "?"
stats data skip 1 using 0 nooutput
rows = STATS_records
set terminal svg size 900, 120 + 26 * rows font "sans,11" background "white"
set output out
set key outside top center horizontal
set logscale x
set xlabel "MB/s"
set grid x
set yrange [rows:-1]
columns = words(system("head -n 1 " . data . " | tr ' ' '_'")) - 1
set style fill solid 0.8 noborder
plot for [c = 2:columns + 1] data skip 1 \
    using (column(c)):($0 + 0.25 * (c - 3)):ytic(1) with points pointtype 7 pointsize 0.8 \
    title word(system("head -n 1 " . data), c)
