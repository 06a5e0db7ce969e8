# NCMPI_F90: checks whether the module pnetcdf can be built. The module passes arrays of any rank to
# C by descriptors (Fortran 2018). Sets HAVE_F90 and HAVE_MPI_F08, and the options for writing and
# finding modules, FC_MODOUT and FC_MODINC.
AC_DEFUN([NCMPI_F90], [
    have_f90=$have_fortran have_mpi_f08=no
    AS_IF([test "$have_f90" = yes], [
        AC_LANG_PUSH([Fortran])
        AC_FC_MODULE_OUTPUT_FLAG([], [have_f90=no])
        AC_FC_MODULE_FLAG([], [have_f90=no])
        ac_ext=f90
        NCMPI_F90_RANKS
        NCMPI_F90_MPI_F08
        AC_LANG_POP([Fortran])])
    AS_IF([test "$have_f90" = yes], [NCMPI_F90_HEADER])
    AS_IF([test "$have_fortran" = yes && test "$have_f90" = no],
        [AC_MSG_WARN([no module pnetcdf: $FC does not support enough of Fortran 2018; see config.log])])
    AM_CONDITIONAL([HAVE_F90], [test "$have_f90" = yes])
    AM_CONDITIONAL([HAVE_MPI_F08], [test "$have_mpi_f08" = yes])
    AC_SUBST([have_f90])
    AC_SUBST([have_mpi_f08])
])

AC_DEFUN([NCMPI_F90_RANKS], [
    AC_CACHE_CHECK([whether $FC passes arrays of any rank to C], [ncmpi_cv_f90_ranks],
        [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[module conftest
  use, intrinsic :: iso_c_binding
contains
  integer function probe(values, start)
    integer, dimension(..), intent(in), asynchronous :: values
    integer(kind=c_int64_t), dimension(:), intent(in), optional, contiguous :: start
    interface
      function look(values, start) bind(C, name='look')
        import
        integer(c_int) :: look
        type(*), dimension(..) :: values
        integer(c_int64_t), dimension(*), intent(in), optional :: start
      end function
    end interface
    probe = look(values, start)
  end function
end module
]])], [ncmpi_cv_f90_ranks=yes], [ncmpi_cv_f90_ranks=no])
        rm -f conftest.mod])
    AS_IF([test "$ncmpi_cv_f90_ranks" = no], [have_f90=no])
])

dnl Links the program, because the compiler may spell names in the module differently from the
dnl compiler that MPI was built with.
AC_DEFUN([NCMPI_F90_MPI_F08], [
    AC_CACHE_CHECK([whether MPI has the module mpi_f08], [ncmpi_cv_mpi_f08],
        [AC_LINK_IFELSE([AC_LANG_SOURCE([[program conftest
  use mpi_f08, only: comm => MPI_Comm, info => MPI_Info, MPI_Comm_free
  type(comm) :: c
  type(info) :: i
  c%MPI_VAL = 0
  i%MPI_VAL = c%MPI_VAL
  call MPI_Comm_free(c)
end program
]])], [ncmpi_cv_mpi_f08=yes], [ncmpi_cv_mpi_f08=no])])
    have_mpi_f08=$ncmpi_cv_mpi_f08
])

# NCMPI_F90_HEADER: finds the C header of these descriptors, which comes with the Fortran compiler.
# Copies the header for other C compilers, which must not use the Fortran compiler's other headers.
AC_DEFUN([NCMPI_F90_HEADER], [
    AC_CACHE_CHECK([for ISO_Fortran_binding.h], [ncmpi_cv_f90_header], [
        ncmpi_cv_f90_header=`$FC -print-file-name=include/ISO_Fortran_binding.h 2>/dev/null`
        AS_IF([test -f "$ncmpi_cv_f90_header"], [], [
            AC_PREPROC_IFELSE([AC_LANG_SOURCE([[@%:@include <ISO_Fortran_binding.h>]])],
                [ncmpi_cv_f90_header=found], [ncmpi_cv_f90_header=no])])])
    AS_IF([test "$ncmpi_cv_f90_header" = no], [have_f90=no])
    AS_IF([test -f "$ncmpi_cv_f90_header"], [
        AC_CONFIG_COMMANDS([include/ISO_Fortran_binding.h],
            [cp "$f90_header" include/ISO_Fortran_binding.h],
            [f90_header=$ncmpi_cv_f90_header])])
])
