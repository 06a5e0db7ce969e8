# Writes the parameters of pnetcdf.inc. Reads pnetcdf.h, and then f77_constants.txt, which refers to
# names from pnetcdf.h. Every line ends before column 73 and needs no continuation, so the file is
# valid in both fixed and free form.
function parameter(kind, name, value) {
    printf "      %s %s\n      parameter (%s=%s)\n", kind, name, name, value
}

BEGIN {
    print "! Generated: the interface of PnetCDF, for fixed and free form."
    print "! Goes with mpif.h and with the modules mpi and mpi_f08."
}

FNR == 1 && NR > 1 { others = 1 }
others && /^#/ { next }
others && $3 == "@" {
    if (!($2 in header)) exit 1
    gsub(/"/, "\047", header[$2])
    $3 = header[$2]
}
others { parameter($1, $2, $3) }
others { next }

/^#define PNETCDF_/ { header[$2] = $3 }

/^#define NC(2_ERR|_NOERR|_E[A-Z0-9_]+) +(\(-[0-9]+\)|0|NC_E[A-Z_]+) / && !/_(FIRST|LAST) / {
    value = $3
    gsub(/[()]/, "", value)
    sub(/^NC/, "NF", $2)
    sub(/^NC/, "NF", value)
    parameter("integer", $2, value)
}
