# Derives the parameters of module pnetcdf from pnetcdf.inc: nf90_x from nf_x, and nf90mpi_x from
# nfmpi_x. Most are default integers; fill values have a kind that can represent them.
BEGIN {
    kind["fill_byte"] = kind["fill_int1"] = kind["fill_char"] = "integer(kind=selected_int_kind(2))"
    kind["fill_short"] = kind["fill_int2"] = kind["fill_ubyte"] = "integer(kind=selected_int_kind(4))"
    kind["fill_uint"] = kind["fill_int64"] = "integer(kind=selected_int_kind(18))"
    kind["fill_float"] = kind["fill_real"] = kind["fill_real4"] = "real"
    kind["fill_double"] = kind["fill_real8"] = kind["fill_uint64"] = "double precision"
    print "! Generated from pnetcdf.inc by f90_constants.awk."
}
tolower($0) ~ /^ *parameter *\( *nf(mpi)?_[a-z0-9_]+ *=/ {
    name = tolower($0)
    sub(/^ *parameter *\( */, "", name)
    sub(/ *=.*/, "", name)
    short = name
    sub(/^nf(mpi)?_/, "", short)
    type = name ~ /^nfmpi/ ? "integer(kind=MPI_OFFSET_KIND)" : short in kind ? kind[short] : "integer"
    mine = (name ~ /^nfmpi/ ? "nf90mpi_" : "nf90_") short
    print "  " type ", parameter :: " mine " = " name
}
