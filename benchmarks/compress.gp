# Plots space and time of compressed blobs and of HDF5's deflate relative to one uncompressed file,
# using the tables in compress.md. `data` is the input file, and `out` the output file. Each field
# is a row of points; points left of the vertical line are better than uncompressed.
set datafile separator "|"
rows(n) = sprintf('< awk ''/^[|] field/ {t++} t == %d && /^[|] [^f-]/'' %s | tr -d ''\140''', n, data)
set terminal svg size 1000, 330 font "sans,11" background "white"
set output out
set multiplot layout 1, 3
set key outside top center horizontal maxrows 1
set colorsequence podo
set grid x
set yrange [8:-1]
array name[3] = ["zstd", "lz4", "HDF5"]
set arrow from 1, graph 0 to 1, graph 1 nohead linewidth 2 linecolor "gray40"

set xlabel "size, relative to one file"
set xrange [0:1.1]
plot for [c = 1:3] rows(1) using (column(c + 5) / column(4)):0:ytic(2) with points \
    pointtype 7 pointsize 0.8 linecolor c title name[c]

set logscale x 2
set xrange [0.25:8]
do for [at = 0:1] {
    set xlabel sprintf("time relative to one file, %d MB/s", at == 0 ? 200 : 500)
    plot for [c = 1:3] rows(2) using (column(5 * at + c + 4) / column(5 * at + 3)):0:ytic(2) with points \
        pointtype 7 pointsize 0.8 linecolor c title name[c]
}
unset multiplot
