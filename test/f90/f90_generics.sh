#!/bin/bash
# Checks that module pnetcdf has all parameters and every generic function of the published
# interface, with its keywords. Also checks that the module works in programs that use mpif.h, mpi
# or mpi_f08.
here=${srcdir:-.}/test/f90
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
top=$PWD
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

compile() {
    (cd "$dir" && $MPIF90 -I"$top/include" "$@")
}
every_generic() {
    awk -f "$here/f90_generics.awk" "$here/f90_generics.txt" >"$dir/generics.f90"
    tail -n 1 "$dir/generics.f90"
    grep -q '^! 80 generics$' "$dir/generics.f90" && compile -c generics.f90
}
# A call to a generic function that the module lacks must fail to compile.
no_other() {
    printf 'nf90mpi_none\tncid\n' | cat "$here/f90_generics.txt" - |
        awk -f "$here/f90_generics.awk" >"$dir/others.f90"
    ! compile -c others.f90
}
# Names of MPI and C, and internal names, must not be public, because they could collide with names
# in a program.
nothing_else() {
    cat >"$dir/hidden.f90" <<'END'
subroutine hidden()
  use pnetcdf
  implicit none
  integer, parameter :: mpi_offset_kind = 1, c_int = 2, int4 = 3, real8 = 4, one_value = 5
  integer, parameter :: f08_comm = 6, move_varn = 7, f90_var = 8
  print *, mpi_offset_kind, c_int, int4, real8, one_value, f08_comm, move_varn, &
    f90_var
end subroutine
END
    compile -c hidden.f90
}
# Each nf_ parameter in pnetcdf.inc must have a counterpart in the module with the same value.
every_parameter() {
    {
        echo 'program parameters'
        echo '  use mpi, only: MPI_OFFSET_KIND'
        echo '  use pnetcdf'
        echo '  implicit none'
        awk '/^ *parameter *\(/ { sub(/^ *parameter *\( */, ""); sub(/ *=.*/, ""); name = tolower($0)
            twin = name; sub(/^nfmpi_/, "nf90mpi_", twin); sub(/^nf_/, "nf90_", twin)
            if (twin != name) print "  if (.not. abs(" name " - " twin ") <= 0) stop 1" }' "$top/include/pnetcdf.inc"
        echo 'end program'
    } >"$dir/parameters.f90"
    [ "$(grep -c stop "$dir/parameters.f90")" -gt 230 ] || return 1
    compile -o parameters parameters.f90 && "$dir/parameters"
}

# caller NAME STATEMENT COMMUNICATOR INFO: compiles and runs a program that writes and reads a file.
# STATEMENT (such as `use mpi`) provides the MPI interface; COMMUNICATOR and INFO are passed to the
# create and open calls.
caller() {
    local name=$1
    cat >"$dir/$name.f90" <<END
program caller
$(case $2 in use*) echo "  $2" ;; esac)
  use pnetcdf
  implicit none
$(case $2 in include*) echo "  $2" ;; esac)
  integer :: err, ncid, varid, dimid, back(3)
  character(len=500) :: path
  call get_command_argument(1, path)
  call MPI_Init(err)
  if (nf90mpi_create($3, path, nf90_64bit_data, $4, ncid) /= 0) stop 1
  if (nf90mpi_def_dim(ncid, 'x', 3_MPI_OFFSET_KIND, dimid) /= 0) stop 2
  if (nf90mpi_def_var(ncid, 'v', nf90_int, dimid, varid) /= 0) stop 3
  if (nf90mpi_enddef(ncid) /= 0) stop 4
  if (nf90mpi_put_var_all(ncid, varid, (/ 7, 8, 9 /)) /= 0) stop 5
  if (nf90mpi_close(ncid) /= 0) stop 6
  if (nf90mpi_open($3, path, nf90_nowrite, $4, ncid) /= 0) stop 7
  if (nf90mpi_get_var_all(ncid, varid, back) /= 0) stop 8
  if (any(back /= (/ 7, 8, 9 /))) stop 9
  if (nf90mpi_close(ncid) /= 0) stop 10
  call MPI_Finalize(err)
end program
END
    compile -o "$name" "$name.f90" "$top/.libs/libpnetcdf.so" -Wl,-rpath,"$top/.libs" &&
        launch 2 "$dir/$name" "$dir/$name.nc"
}

check "all 80 generics have every keyword" every_generic
check "a missing generic is detected" no_other
check "the module has every parameter" every_parameter
check "the module exports no other name" nothing_else
if [ -e .libs/libpnetcdf.so ]; then
    check "a program with mpif.h compiles" caller mpif "include 'mpif.h'" MPI_COMM_WORLD MPI_INFO_NULL
    check "a program with module mpi compiles" caller mpi 'use mpi' MPI_COMM_WORLD MPI_INFO_NULL
    if [ "$HAVE_MPI_F08" = yes ]; then
        check "a program with module mpi_f08 compiles" caller f08 'use mpi_f08' MPI_COMM_WORLD MPI_INFO_NULL
        check "a program with module mpi_f08 and integer handles compiles" caller f08int 'use mpi_f08' MPI_COMM_WORLD%MPI_VAL \
            MPI_INFO_NULL%MPI_VAL
    fi
fi
finish
