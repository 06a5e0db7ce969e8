  ! The operation and the type of the values. f90_access.h defines the same structure.
  type, bind(C), private :: f90_call
    integer(c_int) :: mode, type
    integer(c_int64_t) :: len
    integer(c_int) :: ncid, varid
  end type

  private :: move_varn, move_vard, set_fill_mode, any_fill
  private :: attribute_fits

  interface nf90mpi_def_var
    module procedure f90_def_var_scalar
    module procedure f90_def_var_one
    module procedure f90_def_var_many
  end interface
  private :: f90_def_var_scalar, f90_def_var_one, f90_def_var_many
m4_define([M_ALL])m4_dnl
m4_define([M_NAME], [def])m4_dnl

INTERFACE([var_fill])
m4_define([M_NAME], [inq])m4_dnl

INTERFACE([var_fill])
foreach_mode([
INTERFACE([var])
INTERFACE([varn], [varn1])
])foreach_blocking_mode([
INTERFACE([vard])
])m4_dnl
m4_define([ATTRIBUTE], [
  interface nf90mpi_$1_att
    module procedure f90_$1_att_text
foreach_number_type([    module procedure f90_$1_att_[]T_NAME
    module procedure f90_$1_att1_[]T_NAME
])m4_dnl
  end interface
  private :: f90_$1_att_text
foreach_number_type([  private :: f90_$1_att_[]T_NAME, f90_$1_att1_[]T_NAME
])])m4_dnl
ATTRIBUTE([put])
ATTRIBUTE([get])
m4_ifdef([HAVE_MPI_F08], [m4_dnl
m4_define([WITH_F08], [
  interface nf90mpi_$1
    module procedure nf90mpi_$1
    module procedure f90_$1_f08
  end interface
  private :: f90_$1_f08
])m4_dnl
WITH_F08([create])m4_dnl
WITH_F08([open])m4_dnl
WITH_F08([delete])m4_dnl
WITH_F08([inq_file_info])m4_dnl
WITH_F08([get_file_info])m4_dnl
])m4_dnl

