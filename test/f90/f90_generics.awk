# Generates, from f90_generics.txt, a subroutine that calls every public generic function of module
# pnetcdf, passing all arguments by keyword. kind[] contains the declaration for each keyword.
BEGIN {
    FS = "\t"
    split("ncid varid mpi_comm mpi_info cmode omode fillmode old_mode ncerr new_format " \
        "old_format default_format nDimensions nVariables nAttributes unlimitedDimId " \
        "formatNum striping_size striping_count nvars pathlen dimid ncid_in varid_in " \
        "ncid_out varid_out attnum xtype ndims nAtts no_fill num buftype filetype nreqs " \
        "nfiles", list, " ")
    for (i in list) kind[list[i]] = "integer"
    split("h_minfree v_align v_minfree r_align len recno bufcount bufsize usage buf_size " \
        "put_size get_size h_size h_extent offset size recsize", list, " ")
    for (i in list) kind[list[i]] = "integer(kind=MPI_OFFSET_KIND)"
    split("path name newname curname", list, " ")
    for (i in list) kind[list[i]] = "character(len=20)"
    split("start count stride map", list, " ")
    for (i in list) kind[list[i]] = "integer(kind=MPI_OFFSET_KIND), dimension(1)"
    kind["varn"] = "integer(kind=MPI_OFFSET_KIND), dimension(1, 1)"
    split("dimids ncids st", list, " ")
    for (i in list) kind[list[i]] = "integer, dimension(1)"
    kind["values"] = kind["buf"] = "real, dimension(1)"
    kind["fill_value"] = "real"
    text["nf90mpi_inq_libvers"] = text["nf90mpi_strerror"] = text["nf90mpi_strerrno"] = 1
    print "subroutine generics()\n  use mpi, only: MPI_OFFSET_KIND\n  use pnetcdf\n  implicit none"
    print "  integer :: err, req, reqs(1)\n  logical :: yes\n  character(len=80) :: words"
    for (name in kind) print "  " kind[name] " :: " name
}
FNR == 1 { next }
{
    n = split($2, args, /, */)
    call = ""
    for (i = 1; i <= n; i++) {
        name = args[i]
        gsub(/[\[\]]/, "", name)
        given = name
        if ($1 ~ /varn/ && name ~ /^(start|count)$/) given = "varn"
        if (name == "req" && $1 ~ /wait|cancel/) given = "reqs"
        call = call (i > 1 ? ", &\n    " : "") name "=" given
    }
    result = $1 in text ? "words" : $1 == "nf90mpi_issyserr" ? "yes" : "err"
    calls = calls "  " result " = " $1 "(" call ")\n"
    used++
}
END {
    printf "%s", calls
    print "end subroutine"
    print "! " used " generics"
}
