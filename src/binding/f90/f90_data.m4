
  ! ---- values of variables: the C functions, and the functions of each type ----

  function move_varn(mode, type, len, ncid, varid, values, num, start, count, req)
    integer :: move_varn
    integer, intent(in) :: mode, type, len, ncid, varid, num
    type(*), dimension(..) :: values
    integer(kind=MPI_OFFSET_KIND), dimension(:, :), intent(in) :: start
    integer(kind=MPI_OFFSET_KIND), dimension(:, :), intent(in), optional :: count
    integer, intent(out), optional :: req
    interface
      function f90_varn(what, values, req, num, start, count) bind(C, name='f90_varn')
        import :: f90_call, c_int, c_int64_t
        integer(c_int) :: f90_varn
        type(f90_call), intent(in) :: what
        type(*), dimension(..) :: values
        integer(c_int), intent(out), optional :: req
        integer(c_int), value :: num
        integer(c_int64_t), dimension(:, :), intent(in) :: start
        integer(c_int64_t), dimension(:, :), intent(in), optional :: count
      end function
    end interface
    move_varn = f90_varn(f90_call(mode, type, len, ncid, varid), values, req, num, start, &
      count)
  end function

  function move_vard(mode, type, len, ncid, varid, filetype, buf, bufcount, buftype)
    integer :: move_vard
    integer, intent(in) :: mode, type, len, ncid, varid, filetype
    type(*), dimension(..) :: buf
    integer(kind=MPI_OFFSET_KIND), intent(in) :: bufcount
    integer, intent(in) :: buftype
    interface
      function f90_vard(what, filetype, buf, bufcount, buftype) bind(C, name='f90_vard')
        import :: f90_call, c_int, c_int64_t
        integer(c_int) :: f90_vard
        type(f90_call), intent(in) :: what
        integer(c_int), value :: filetype
        type(*), dimension(..) :: buf
        integer(c_int64_t), value :: bufcount
        integer(c_int), value :: buftype
      end function
    end interface
    move_vard = f90_vard(f90_call(mode, type, len, ncid, varid), filetype, buf, bufcount, &
      buftype)
  end function
m4_divert(-1)
/* Each function declares the interface of the C function and calls it directly. This
 * saves a call, which makes small puts faster. `given` contains the lengths of the lists. */
m4_define([F90_VAR_INTERFACE], [m4_dnl
    interface
      function f90_var(what, given, values, start, count, stride, map, bufcount, buftype, &
          req) bind(C, name='f90_var')
        import :: f90_call, c_int, c_int64_t
        integer(c_int) :: f90_var
        type(f90_call), intent(in) :: what
        integer(c_int64_t), intent(in) :: given(4)
        type(*), dimension(..) :: values
        integer(c_int64_t), dimension(*), intent(in), optional :: start, count, stride, map
        integer(c_int64_t), intent(in), optional :: bufcount
        integer(c_int), intent(in), optional :: buftype
        integer(c_int), intent(out), optional :: req
      end function
    end interface
])
m4_divert[]m4_dnl
foreach_mode([foreach_type([
  function SPECIFIC([var])(ncid, varid, values, M_REQ[]start, count, &
      stride, map, bufcount, buftype)
    integer :: SPECIFIC([var])
    integer, intent(in) :: ncid, varid
    T_DECL, dimension(..), M_INTENT :: values[]M_DECL
    integer(kind=MPI_OFFSET_KIND), dimension(:), intent(in), optional, contiguous :: start
    integer(kind=MPI_OFFSET_KIND), dimension(:), intent(in), optional, contiguous :: count
    integer(kind=MPI_OFFSET_KIND), dimension(:), intent(in), optional, contiguous :: stride
    integer(kind=MPI_OFFSET_KIND), dimension(:), intent(in), optional, contiguous :: map
    integer(kind=MPI_OFFSET_KIND), intent(in), optional :: bufcount
    integer, intent(in), optional :: buftype
F90_VAR_INTERFACE[]m4_dnl
    integer(kind=MPI_OFFSET_KIND) :: given(4)
    given = 0
    if (present(start)) given(1) = size(start, kind=MPI_OFFSET_KIND)
    if (present(count)) given(2) = size(count, kind=MPI_OFFSET_KIND)
    if (present(stride)) given(3) = size(stride, kind=MPI_OFFSET_KIND)
    if (present(map)) given(4) = size(map, kind=MPI_OFFSET_KIND)
    SPECIFIC([var]) = f90_var(f90_call(M_TAG, T_TAG, T_LEN, ncid, varid), given, &
      values, start, count, stride, map, bufcount, buftype[]M_PASS)
  end function

  function SPECIFIC([varn])(ncid, varid, values, M_REQ[]num, start, count)
    integer :: SPECIFIC([varn])
    integer, intent(in) :: ncid, varid, num
    T_DECL, dimension(..), M_INTENT :: values[]M_DECL
    integer(kind=MPI_OFFSET_KIND), dimension(:, :), intent(in) :: start
    integer(kind=MPI_OFFSET_KIND), dimension(:, :), intent(in), optional :: count
    SPECIFIC([varn]) = move_varn(M_TAG, T_TAG, T_LEN, ncid, varid, values, &
      num, start, count[]M_PASS)
  end function

  function SPECIFIC([varn1])(ncid, varid, values, M_REQ[]start, count)
    integer :: SPECIFIC([varn1])
    integer, intent(in) :: ncid, varid
    T_DECL, M_INTENT :: values[]M_DECL
    integer(kind=MPI_OFFSET_KIND), dimension(:, :), intent(in) :: start
    integer(kind=MPI_OFFSET_KIND), dimension(:, :), intent(in), optional :: count
    SPECIFIC([varn1]) = move_varn(M_TAG, T_TAG, T_LEN, ncid, varid, values, &
      1, start, count[]M_PASS)
  end function
])])m4_dnl
foreach_blocking_mode([foreach_type([
  function SPECIFIC([vard])(ncid, varid, filetype, buf, bufcount, buftype)
    integer :: SPECIFIC([vard])
    integer, intent(in) :: ncid, varid, filetype
    T_DECL, dimension(..), M_INTENT :: buf
    integer(kind=MPI_OFFSET_KIND), intent(in) :: bufcount
    integer, intent(in) :: buftype
    SPECIFIC([vard]) = move_vard(M_TAG, T_TAG, m4_patsubst(T_LEN, [values], [buf]), ncid, varid, &
      filetype, buf, bufcount, buftype)
  end function
])])m4_dnl
