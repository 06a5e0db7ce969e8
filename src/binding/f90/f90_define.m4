
  ! ---- dimensions ----
PASS([def_dim], [ncid, name, len, dimid],
  [NCID],
  [character(len=*), intent(in) :: name],
  [OFFSET, intent(in) :: len],
  [integer, intent(out) :: dimid])m4_dnl
PASS([inq_dimid], [ncid, name, dimid],
  [NCID],
  [character(len=*), intent(in) :: name],
  [integer, intent(out) :: dimid])m4_dnl
PASS([rename_dim], [ncid, dimid, name],
  [integer, intent(in) :: ncid, dimid],
  [character(len=*), intent(in) :: name])m4_dnl

  function nf90mpi_inquire_dimension(ncid, dimid, name, len)
    integer :: nf90mpi_inquire_dimension
    integer, intent(in) :: ncid, dimid
    character(len=*), intent(out), optional :: name
    OFFSET, intent(out), optional :: len
    OFFSET :: length
    nf90mpi_inquire_dimension = nfmpi_inq_dimlen(ncid, dimid, length)
    if (nf90mpi_inquire_dimension /= nf_noerr) return
    if (present(len)) len = length
    if (present(name)) nf90mpi_inquire_dimension = nfmpi_inq_dimname(ncid, dimid, name)
  end function

  ! ---- variables ----

  function f90_def_var_scalar(ncid, name, xtype, varid)
    integer :: f90_def_var_scalar
    integer, intent(in) :: ncid, xtype
    character(len=*), intent(in) :: name
    integer, intent(out) :: varid
    integer, dimension(1) :: none
    none = 0
    f90_def_var_scalar = nfmpi_def_var(ncid, name, xtype, 0, none, varid)
  end function

  function f90_def_var_one(ncid, name, xtype, dimids, varid)
    integer :: f90_def_var_one
    integer, intent(in) :: ncid, xtype, dimids
    character(len=*), intent(in) :: name
    integer, intent(out) :: varid
    integer, dimension(1) :: list
    list = dimids
    f90_def_var_one = nfmpi_def_var(ncid, name, xtype, 1, list, varid)
  end function

  function f90_def_var_many(ncid, name, xtype, dimids, varid)
    integer :: f90_def_var_many
    integer, intent(in) :: ncid, xtype
    character(len=*), intent(in) :: name
    integer, dimension(:), contiguous, intent(in) :: dimids
    integer, intent(out) :: varid
    f90_def_var_many = nfmpi_def_var(ncid, name, xtype, size(dimids), dimids, varid)
  end function
PASS([inq_varid], [ncid, name, varid],
  [NCID],
  [character(len=*), intent(in) :: name],
  [integer, intent(out) :: varid])m4_dnl
PASS([rename_var], [ncid, varid, newname],
  [integer, intent(in) :: ncid, varid],
  [character(len=*), intent(in) :: newname])m4_dnl
PASS([inq_varoffset], [ncid, varid, offset],
  [integer, intent(in) :: ncid, varid],
  [OFFSET, intent(out) :: offset])m4_dnl
PASS([fill_var_rec], [ncid, varid, recno],
  [integer, intent(in) :: ncid, varid],
  [OFFSET, intent(in) :: recno])m4_dnl

  ! A list of dimensions that is too short remains unchanged.
  function nf90mpi_inquire_variable(ncid, varid, name, xtype, ndims, dimids, nAtts) &
      result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    character(len=*), intent(out), optional :: name
    integer, intent(out), optional :: xtype, ndims, nAtts
    integer, dimension(:), contiguous, intent(inout), optional :: dimids
    integer, dimension(3) :: found
    err = nfmpi_inq_varndims(ncid, varid, found(1))
    if (err == nf_noerr) err = nfmpi_inq_vartype(ncid, varid, found(2))
    if (err == nf_noerr) err = nfmpi_inq_varnatts(ncid, varid, found(3))
    if (err /= nf_noerr) return
    if (present(ndims)) ndims = found(1)
    if (present(xtype)) xtype = found(2)
    if (present(nAtts)) nAtts = found(3)
    if (present(name)) err = nfmpi_inq_varname(ncid, varid, name)
    if (.not. present(dimids) .or. err /= nf_noerr) return
    err = nf_einval
    if (found(1) <= size(dimids)) err = nfmpi_inq_vardimid(ncid, varid, dimids)
  end function

  ! ---- fill values, converted to and from the type of the variable ----

  function set_fill_mode(ncid, varid, no_fill)
    integer :: set_fill_mode
    integer, intent(in) :: ncid, varid, no_fill
    interface
      function ncmpi_def_var_fill(ncid, varid, no_fill, fill_value) &
          bind(C, name='ncmpi_def_var_fill')
        import :: c_int, c_ptr
        integer(c_int) :: ncmpi_def_var_fill
        integer(c_int), value :: ncid, varid, no_fill
        type(c_ptr), value :: fill_value
      end function
    end interface
    set_fill_mode = ncmpi_def_var_fill(ncid, varid - 1, no_fill, c_null_ptr)
  end function
foreach_type([
  function f90_def_var_fill_[]T_NAME[](ncid, varid, no_fill, fill_value) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid, no_fill
    T_DECL, intent(in) :: fill_value
    integer :: xtype
    err = set_fill_mode(ncid, varid, no_fill)
    if (err /= nf_noerr .or. no_fill /= 0) return
    err = nfmpi_inq_vartype(ncid, varid, xtype)
m4_ifelse(T_NAME, [text], [m4_dnl
    if (err == nf_noerr .and. (xtype /= nf_char .or. len(fill_value) == 0)) err = nf_ebadtype
    if (err == nf_noerr) &
      err = nfmpi_put_att_text(ncid, varid, '_FillValue', one_value, fill_value(1:1))
], [m4_dnl
    if (err == nf_noerr) err = nfmpi_put_att_[]T_NAME[](ncid, varid, '_FillValue', xtype, &
      one_value, (/ fill_value /))
])m4_dnl
  end function
])m4_dnl

  ! Gets the fill value of a variable of any type, as an integer or as a real number.
  function any_fill(ncid, varid, no_fill, xtype, whole, broken) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    integer, intent(out) :: no_fill, xtype
    integer(kind=int8), intent(out) :: whole
    real(kind=real8), intent(out) :: broken
    integer(kind=int1), dimension(8), target :: raw
    interface
      function ncmpi_inq_var_fill(ncid, varid, no_fill, fill_value) &
          bind(C, name='ncmpi_inq_var_fill')
        import :: c_int, c_ptr
        integer(c_int) :: ncmpi_inq_var_fill
        integer(c_int), value :: ncid, varid
        integer(c_int), intent(out) :: no_fill
        type(c_ptr), value :: fill_value
      end function
    end interface
    raw = 0
    whole = 0
    broken = 0
    err = ncmpi_inq_var_fill(ncid, varid - 1, no_fill, c_loc(raw))
    if (err == nf_noerr) err = nfmpi_inq_vartype(ncid, varid, xtype)
    if (err /= nf_noerr) return
    select case (xtype)
    case (nf_byte)
      whole = raw(1)
    case (nf_char, nf_ubyte)
      whole = iand(int(raw(1)), 255)
    case (nf_short)
      whole = transfer(raw(1:2), 0_int2)
    case (nf_ushort)
      whole = iand(int(transfer(raw(1:2), 0_int2)), 65535)
    case (nf_int)
      whole = transfer(raw(1:4), 0_int4)
    case (nf_uint)
      whole = iand(int(transfer(raw(1:4), 0_int4), int8), 4294967295_int8)
    case (nf_int64)
      whole = transfer(raw, whole)
    case (nf_uint64)
      whole = transfer(raw, whole)
    case (nf_float)
      broken = transfer(raw(1:4), 0._real4)
    case (nf_double)
      broken = transfer(raw, broken)
    end select
    if (xtype /= nf_float .and. xtype /= nf_double) broken = real(whole, real8)
    if (xtype == nf_uint64 .and. whole < 0) broken = broken + 2._real8**64
  end function
foreach_type([
  function f90_inq_var_fill_[]T_NAME[](ncid, varid, no_fill, fill_value) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    integer, intent(out) :: no_fill
    T_DECL, intent(inout) :: fill_value
    integer :: xtype
    integer(kind=int8) :: whole
    real(kind=real8) :: broken
    err = any_fill(ncid, varid, no_fill, xtype, whole, broken)
    if (err == nf_noerr .and. (xtype == nf_char .neqv. T_TAG == 0)) err = nf_echar
    if (err /= nf_noerr) return
m4_ifelse(T_NAME, [text], [m4_dnl
    fill_value = achar(int(whole))
], T_NAME, [double], [m4_dnl
    fill_value = broken
], T_NAME, [real], [m4_dnl
    if (abs(broken) > huge(fill_value)) err = nf_erange
    if (err == nf_noerr) fill_value = real(broken, real4)
], [m4_dnl
    if (.not. abs(broken) < 2._real8**(bit_size(fill_value) - 1)) err = nf_erange
    if (xtype == nf_float .or. xtype == nf_double) whole = int(merge(broken, 0._real8, err == nf_noerr), int8)
    if (err == nf_noerr) fill_value = int(whole, kind(fill_value))
])m4_dnl
  end function
])m4_dnl

  ! ---- attributes ----
PASS([copy_att], [ncid_in, varid_in, name, ncid_out, varid_out],
  [integer, intent(in) :: ncid_in, varid_in, ncid_out, varid_out],
  [character(len=*), intent(in) :: name])m4_dnl
PASS([rename_att], [ncid, varid, curname, newname],
  [integer, intent(in) :: ncid, varid],
  [character(len=*), intent(in) :: curname, newname])m4_dnl
PASS([del_att], [ncid, varid, name],
  [integer, intent(in) :: ncid, varid],
  [character(len=*), intent(in) :: name])m4_dnl
PASS([inq_attname], [ncid, varid, attnum, name],
  [integer, intent(in) :: ncid, varid, attnum],
  [character(len=*), intent(out) :: name])m4_dnl

  function nf90mpi_inquire_attribute(ncid, varid, name, xtype, len, attnum) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: xtype, attnum
    OFFSET, intent(out), optional :: len
    integer, dimension(2) :: found
    OFFSET :: length
    err = nfmpi_inq_att(ncid, varid, name, found(1), length)
    if (err == nf_noerr) err = nfmpi_inq_attid(ncid, varid, name, found(2))
    if (err /= nf_noerr) return
    if (present(xtype)) xtype = found(1)
    if (present(len)) len = length
    if (present(attnum)) attnum = found(2)
  end function

  ! Checks that the caller's variable can store all values of an attribute. If only one of
  ! them is text, the get reports that error instead.
  function attribute_fits(ncid, varid, name, room, is_text) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid, room
    character(len=*), intent(in) :: name
    logical, intent(in) :: is_text
    integer :: xtype
    OFFSET :: length
    err = nfmpi_inq_att(ncid, varid, name, xtype, length)
    if (err == nf_noerr .and. length > room .and. (xtype == nf_char .eqv. is_text)) err = nf_einval
  end function

  ! Comparing whole names would need Fortran's run-time library, as would len_trim below.
  pure function is_fill_value(name)
    logical :: is_fill_value
    character(len=*), intent(in) :: name
    character(len=*), parameter :: fill_value = '_FillValue'
    character :: c
    integer :: i
    is_fill_value = len(name) >= len(fill_value)
    do i = 1, len(name)
      c = ' '
      if (i <= len(fill_value)) c = fill_value(i:i)
      if (iachar(name(i:i)) /= iachar(c)) is_fill_value = .false.
    end do
  end function

  ! Does not store trailing blanks, which are padding in Fortran. The fill value of a
  ! variable is one character, even if it is a blank.
  function f90_put_att_text(ncid, varid, name, values) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name, values
    OFFSET :: length, least
    length = len(values, MPI_OFFSET_KIND)
    least = 0
    if (is_fill_value(name)) least = min(1_MPI_OFFSET_KIND, length)
    do while (length > least)
      if (iachar(values(length:length)) /= iachar(' ')) exit
      length = length - 1
    end do
    err = nfmpi_put_att_text(ncid, varid, name, length, values)
  end function

  function f90_get_att_text(ncid, varid, name, values) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    character(len=*), intent(out) :: values
    values = ' '
    err = attribute_fits(ncid, varid, name, len(values), .true.)
    if (err == nf_noerr) err = nfmpi_get_att_text(ncid, varid, name, values)
  end function
foreach_number_type([
  function f90_put_att_[]T_NAME[](ncid, varid, name, values) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    T_DECL, dimension(:), contiguous, intent(in) :: values
    err = nfmpi_put_att_[]T_NAME[](ncid, varid, name, T_NC, size(values, &
      kind=MPI_OFFSET_KIND), values)
  end function

  function f90_put_att1_[]T_NAME[](ncid, varid, name, values) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    T_DECL, intent(in) :: values
    err = nfmpi_put_att_[]T_NAME[](ncid, varid, name, T_NC, one_value, (/ values /))
  end function

  function f90_get_att_[]T_NAME[](ncid, varid, name, values) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    T_DECL, dimension(:), contiguous, intent(inout) :: values
    err = attribute_fits(ncid, varid, name, size(values), .false.)
    if (err == nf_noerr) err = nfmpi_get_att_[]T_NAME[](ncid, varid, name, values)
  end function

  function f90_get_att1_[]T_NAME[](ncid, varid, name, values) result(err)
    integer :: err
    integer, intent(in) :: ncid, varid
    character(len=*), intent(in) :: name
    T_DECL, intent(inout) :: values
    T_DECL, dimension(1) :: list
    list = values
    err = f90_get_att_[]T_NAME[](ncid, varid, name, list)
    values = list(1)
  end function
])m4_dnl
