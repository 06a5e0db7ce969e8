m4_include(`f90_tables.m4')m4_dnl
m4_divert(-1)
/* For each type, FORMULA_x computes a value from an integer i, E_DECL is the type's
 * declaration, E_MPI is its MPI datatype, and E_TEXT is 1 for text and 0 otherwise. Text
 * has two characters per element, and therefore an additional dimension in the file. */
m4_define([FORMULA_text],   [achar(97 + mod(i, 26)) // achar(65 + mod(i, 23))])
m4_define([FORMULA_int1],   [int(mod(i, 100) - 50, int1)])
m4_define([FORMULA_int2],   [int(300 * mod(i, 97), int2)])
m4_define([FORMULA_int],    [int(70000 * i, int4)])
m4_define([FORMULA_int8],   [5000000000_int8 * i])
m4_define([FORMULA_real],   [0.25_real4 * real(i, real4)])
m4_define([FORMULA_double], [1.e100_real8 * real(i, real8)])
m4_define([E_DECL], [m4_ifelse(T_NAME, [text], [character(len=2)], [T_DECL])])
m4_define([E_MPI_text],   [MPI_CHARACTER])
m4_define([E_MPI_int1],   [MPI_INTEGER1])
m4_define([E_MPI_int2],   [MPI_INTEGER2])
m4_define([E_MPI_int],    [MPI_INTEGER4])
m4_define([E_MPI_int8],   [MPI_INTEGER8])
m4_define([E_MPI_real],   [MPI_REAL4])
m4_define([E_MPI_double], [MPI_REAL8])
m4_define([E_MPI], [m4_indir([E_MPI_]T_NAME)])
m4_define([E_TEXT], [m4_ifelse(T_NAME, [text], [1], [0])])

/* The shape, and the number of values, of an array of each rank R. */
m4_define([rank_row], [m4_define([R], [$2])m4_define([R_SHAPE], [$3])m4_dnl
m4_define([R_N], [$4])$1])
m4_define([foreach_rank], [m4_dnl
rank_row([$1], [0], [], [1])m4_dnl
rank_row([$1], [1], [3], [3])m4_dnl
rank_row([$1], [2], [3, 2], [6])m4_dnl
rank_row([$1], [3], [3, 2, 1], [6])m4_dnl
rank_row([$1], [4], [3, 2, 1, 2], [12])m4_dnl
rank_row([$1], [5], [3, 2, 1, 2, 2], [24])m4_dnl
rank_row([$1], [6], [3, 2, 1, 2, 2, 1], [24])m4_dnl
rank_row([$1], [7], [3, 2, 1, 2, 2, 1, 2], [48])])
/* For rank 0, the first element of an array serves as the scalar. */
m4_define([R_DIM], [m4_ifelse(R, [0], [1], [R_SHAPE])])
m4_define([ARRAY], [m4_ifelse(R, [0], [$1(1)], [$1])])

/* PUT(k, call, arguments after varid): computes values for the k-th variable and puts
 * them. GET(k, call, arguments after varid): gets the values and compares them. */
m4_define([REST], [m4_shift(m4_shift($@))])
m4_define([PUT], [    call fill(a, R_N, $1)
    call okay(nf90mpi_$2(ncid, first + $1, REST($@)), '$2, T_NAME, rank R')
])
m4_define([GET], [    call clear(b, R_N)
    call okay(nf90mpi_$2(ncid, first + $1, REST($@)), '$2, T_NAME, rank R')
    call compare(b, R_N, $1, '$2, T_NAME, rank R')
])
/* IPUT and IGET do the same with nonblocking calls. Each put uses a separate array,
 * because its values must not change before the wait. */
m4_define([IPUT], [    call fill(a$1, R_N, $1)
    call okay(nf90mpi_$2(ncid, first + $1, ARRAY(a$1), REST($@)), '$2, T_NAME, rank R')
])
m4_define([IGET], [    call clear(b, R_N)
    call okay(nf90mpi_$2(ncid, first + $1, ARRAY(b), REST($@)), '$2, T_NAME, rank R')
    call waited(ncid, 1, '$2, T_NAME, rank R')
    call compare(b, R_N, $1, '$2, T_NAME, rank R')
])
m4_define([SLAB], [m4_dnl
    integer, parameter :: n = R + 1 + E_TEXT
    integer(kind=MPI_OFFSET_KIND) :: s(n), sn(n, 1), cn(n, 1), items
    s = 1
    s(n) = at_hand%rank + 1
    sn(:, 1) = s
    cn(:, 1) = int((/ m4_ifelse(E_TEXT, [1], [[2, ]])m4_ifelse(R, [0], [], [R_SHAPE[, ]])1 /), MPI_OFFSET_KIND)
    items = R_N * (1 + E_TEXT)])
m4_divert[]m4_dnl
foreach_type([m4_ifelse(T_NAME, TYPE, [m4_dnl
! Generated from f90_every.f90.m4. Calls every generic function that transfers values, for every
! type and rank. Each get must return the values that were put. Each process owns a part of every
! variable.
module f90_every_[]T_NAME
  use, intrinsic :: iso_c_binding
  use mpi
  use pnetcdf
  use f90_checks
  implicit none
  private

  integer, parameter :: int1 = selected_int_kind(2)
  integer, parameter :: int2 = selected_int_kind(4)
  integer, parameter :: int4 = selected_int_kind(9)
  integer, parameter :: int8 = selected_int_kind(18)
  integer, parameter :: real4 = selected_real_kind(6)
  integer, parameter :: real8 = selected_real_kind(13)

  ! Lengths of the dimensions. Text variables have an additional first dimension, of length 2.
  integer, parameter :: lengths(7) = (/ 3, 2, 1, 2, 2, 1, 2 /)
  integer, parameter :: nvars = 10 ! per rank
  integer :: req(4)

contains

  ! Returns a value that is derived from i.
  elemental function value(i)
    E_DECL :: value
    integer, intent(in) :: i
    value = m4_indir([FORMULA_]T_NAME)
  end function

  subroutine fill(a, n, k)
    integer, intent(in) :: n, k
    E_DECL, intent(out) :: a(n)
    integer :: i
    a = value((/ (100 * at_hand%rank + 7 * k + i, i = 1, n) /))
  end subroutine

  subroutine clear(a, n)
    integer, intent(in) :: n
    E_DECL, intent(out) :: a(n)
    a = value(0)
  end subroutine

  subroutine compare(a, n, k, what)
    integer, intent(in) :: n, k
    E_DECL, intent(in) :: a(n)
    character(len=*), intent(in) :: what
    E_DECL :: expected(n)
    call fill(expected, n, k)
    call same(all(a == expected), what // ': the values of variable ' // achar(48 + k))
  end subroutine

  ! Waits for the first n requests.
  subroutine waited(ncid, n, what)
    integer, intent(in) :: ncid, n
    character(len=*), intent(in) :: what
    integer :: st(4)
    call okay(nf90mpi_wait_all(ncid, n, req, st(:n)), what // ': wait_all')
    call same(all(st(:n) == nf90_noerr) .and. all(req(:n) == nf90_req_null), &
      what // ': states of the requests')
  end subroutine

  ! Creates a file with variables of one type, nvars per rank. The length of each variable's last
  ! dimension is the number of processes.
  subroutine create(name, xtype, text, ncid)
    character(len=*), intent(in) :: name
    integer, intent(in) :: xtype, text
    integer, intent(out) :: ncid
    integer :: dims(9), i, k, rank, varid
    character(len=8) :: var
    dims = 0
    call okay(nf90mpi_create(MPI_COMM_WORLD, file_path(name), nf90_64bit_data, &
      MPI_INFO_NULL, ncid), 'create')
    call okay(nf90mpi_def_dim(ncid, 'text', 2_MPI_OFFSET_KIND, dims(1)), 'def_dim')
    do i = 1, 7
      call okay(nf90mpi_def_dim(ncid, 'd' // achar(48 + i), &
        int(lengths(i), MPI_OFFSET_KIND), dims(1 + i)), 'def_dim')
    end do
    call okay(nf90mpi_def_dim(ncid, 'process', int(at_hand%nprocs, MPI_OFFSET_KIND), &
      dims(9)), 'def_dim')
    do rank = 0, 7
      do k = 0, nvars - 1
        var = 'v' // achar(48 + rank) // achar(48 + k)
        call okay(nf90mpi_def_var(ncid, trim(var), xtype, &
          (/ dims(2 - text:1 + rank), dims(9) /), varid), 'def_var')
        call equal(int(nvars * rank + k + 1, c_int64_t), int(varid, c_int64_t), 'varid')
      end do
    end do
    call okay(nf90mpi_enddef(ncid), 'enddef')
  end subroutine

  ! Creates a datatype for the part of a variable that belongs to this process.
  subroutine part(type, items, filetype)
    integer, intent(in) :: type, items
    integer, intent(out) :: filetype
    integer :: ierr
    call MPI_Type_create_subarray(1, (/ items * at_hand%nprocs /), (/ items /), &
      (/ items * at_hand%rank /), MPI_ORDER_FORTRAN, type, filetype, ierr)
    call MPI_Type_commit(filetype, ierr)
  end subroutine

  subroutine every_[]T_NAME[]() bind(C)
    integer :: ncid
    call create('every', T_NC, E_TEXT, ncid)
    call okay(nf90mpi_buffer_attach(ncid, 65536_MPI_OFFSET_KIND), 'buffer_attach')
foreach_rank([    call together_[]R[](ncid, nvars * R + 1)
])m4_dnl
    call okay(nf90mpi_buffer_detach(ncid), 'buffer_detach')
    call okay(nf90mpi_begin_indep_data(ncid), 'begin_indep_data')
foreach_rank([    call apart_[]R[](ncid, nvars * R + 1)
])m4_dnl
    call okay(nf90mpi_end_indep_data(ncid), 'end_indep_data')
    call okay(nf90mpi_close(ncid), 'close')
  end subroutine
foreach_rank([
  subroutine together_[]R[](ncid, first)
    integer, intent(in) :: ncid, first
    E_DECL, dimension(R_DIM) :: a, b
    E_DECL, dimension(R_DIM), asynchronous :: a3, a4, a5, a6
    integer :: ierr, filetype
SLAB
    call part(E_MPI, int(items), filetype)
PUT([0], [put_var_all], ARRAY(a), [start=s])m4_dnl
PUT([1], [put_varn_all], ARRAY(a), [1], [sn], [cn])m4_dnl
PUT([2], [put_vard_all], [filetype], ARRAY(a), [items], E_MPI)m4_dnl
IPUT([3], [iput_var], [req(1)], [start=s])m4_dnl
IPUT([4], [iput_varn], [req(2)], [1], [sn], [cn])m4_dnl
IPUT([5], [bput_var], [req(3)], [start=s])m4_dnl
IPUT([6], [bput_varn], [req(4)], [1], [sn], [cn])m4_dnl
    call clear(a5, R_N)
    call clear(a6, R_N)
    call waited(ncid, 4, 'T_NAME, rank R')
GET([0], [get_var_all], ARRAY(b), [start=s])m4_dnl
GET([1], [get_var_all], ARRAY(b), [start=s])m4_dnl
GET([2], [get_var_all], ARRAY(b), [start=s])m4_dnl
GET([3], [get_var_all], ARRAY(b), [start=s])m4_dnl
GET([4], [get_var_all], ARRAY(b), [start=s])m4_dnl
GET([5], [get_var_all], ARRAY(b), [start=s])m4_dnl
GET([6], [get_var_all], ARRAY(b), [start=s])m4_dnl
GET([0], [get_varn_all], ARRAY(b), [1], [sn], [cn])m4_dnl
GET([0], [get_vard_all], [filetype], ARRAY(b), [items], E_MPI)m4_dnl
IGET([0], [iget_var], [req(1)], [start=s])m4_dnl
IGET([0], [iget_varn], [req(1)], [1], [sn], [cn])m4_dnl
m4_ifelse(R, [0], [PUT([1], [put_varn_all], ARRAY(a), [sn], [cn])GET([1], [get_varn_all], ARRAY(b), [sn], [cn])])m4_dnl
    call MPI_Type_free(filetype, ierr)
  end subroutine

  subroutine apart_[]R[](ncid, first)
    integer, intent(in) :: ncid, first
    E_DECL, dimension(R_DIM) :: a, b
    integer :: ierr, filetype
SLAB
    call part(E_MPI, int(items), filetype)
PUT([7], [put_var], ARRAY(a), [start=s])m4_dnl
PUT([8], [put_varn], ARRAY(a), [1], [sn], [cn])m4_dnl
PUT([9], [put_vard], [filetype], ARRAY(a), [items], E_MPI)m4_dnl
GET([7], [get_var], ARRAY(b), [start=s])m4_dnl
GET([8], [get_var], ARRAY(b), [start=s])m4_dnl
GET([9], [get_var], ARRAY(b), [start=s])m4_dnl
GET([7], [get_varn], ARRAY(b), [1], [sn], [cn])m4_dnl
GET([7], [get_vard], [filetype], ARRAY(b), [items], E_MPI)m4_dnl
    call MPI_Type_free(filetype, ierr)
  end subroutine
])m4_dnl
end module
])])m4_dnl
