m4_divert(-1)
/* PASS(name, arguments, declaration, ...): defines a function that calls the nfmpi_
 * function with the same name and arguments. */
m4_define([PASS], [
  function nf90mpi_$1($2)
    integer :: nf90mpi_$1
LINES(m4_shift(m4_shift($@)))m4_dnl
    nf90mpi_$1 = nfmpi_$1($2)
  end function
])
m4_define([LINES], [m4_ifelse([$1], [], [], [    $1
LINES(m4_shift($@))])])
m4_define([NCID], [integer, intent(in) :: ncid])
m4_define([OFFSET], [integer(kind=MPI_OFFSET_KIND)])
m4_divert[]m4_dnl

  ! ---- errors and the library ----

  function nf90mpi_inq_libvers()
    character(len=80) :: nf90mpi_inq_libvers
    nf90mpi_inq_libvers = nfmpi_inq_libvers()
  end function

  function nf90mpi_strerror(ncerr)
    character(len=80) :: nf90mpi_strerror
    integer, intent(in) :: ncerr
    integer :: truncated
    truncated = nf90mpix_strerror(ncerr, nf90mpi_strerror)
  end function

  function nf90mpi_strerrno(ncerr)
    character(len=80) :: nf90mpi_strerrno
    integer, intent(in) :: ncerr
    character(len=80) :: name
    name = nfmpi_strerrno(ncerr)
    nf90mpi_strerrno = name
    if (name(1:3) == 'NF_') then
      nf90mpi_strerrno(1:5) = 'NF90_'
      nf90mpi_strerrno(6:) = name(4:)
    end if
  end function

  function nf90mpi_issyserr(ncerr)
    logical :: nf90mpi_issyserr
    integer, intent(in) :: ncerr
    nf90mpi_issyserr = nfmpi_issyserr(ncerr)
  end function
PASS([set_default_format], [new_format, old_format],
  [integer, intent(in) :: new_format],
  [integer, intent(out) :: old_format])m4_dnl
PASS([inq_default_format], [default_format],
  [integer, intent(out) :: default_format])m4_dnl
PASS([inq_malloc_size], [size],
  [OFFSET, intent(out) :: size])m4_dnl
PASS([inq_malloc_max_size], [size],
  [OFFSET, intent(out) :: size])m4_dnl

  function nf90mpi_inq_malloc_list()
    integer :: nf90mpi_inq_malloc_list
    nf90mpi_inq_malloc_list = nfmpi_inq_malloc_list()
  end function

  ! A list that is too short remains unchanged.
  function nf90mpi_inq_files_opened(nfiles, ncids)
    integer :: nf90mpi_inq_files_opened
    integer, intent(out) :: nfiles
    integer, dimension(:), contiguous, intent(inout) :: ncids
    interface
      function ncmpi_inq_files_opened(nfiles, ncids) bind(C, name='ncmpi_inq_files_opened')
        import :: c_int
        integer(c_int) :: ncmpi_inq_files_opened
        integer(c_int), intent(out) :: nfiles
        integer(c_int), dimension(*), intent(inout), optional :: ncids
      end function
    end interface
    nf90mpi_inq_files_opened = ncmpi_inq_files_opened(nfiles)
    if (nf90mpi_inq_files_opened == nf_noerr .and. nfiles > size(ncids)) &
      nf90mpi_inq_files_opened = nf_einval
    if (nf90mpi_inq_files_opened == nf_noerr) &
      nf90mpi_inq_files_opened = ncmpi_inq_files_opened(nfiles, ncids)
  end function

  ! ---- files ----
PASS([create], [mpi_comm, path, cmode, mpi_info, ncid],
  [integer, intent(in) :: mpi_comm, cmode, mpi_info],
  [character(len=*), intent(in) :: path],
  [integer, intent(out) :: ncid])m4_dnl
PASS([open], [mpi_comm, path, omode, mpi_info, ncid],
  [integer, intent(in) :: mpi_comm, omode, mpi_info],
  [character(len=*), intent(in) :: path],
  [integer, intent(out) :: ncid])m4_dnl
PASS([delete], [name, mpi_info],
  [character(len=*), intent(in) :: name],
  [integer, intent(in) :: mpi_info])m4_dnl
PASS([set_fill], [ncid, fillmode, old_mode],
  [integer, intent(in) :: ncid, fillmode],
  [integer, intent(out) :: old_mode])m4_dnl
PASS([redef], [ncid], [NCID])m4_dnl

  function nf90mpi_enddef(ncid, h_minfree, v_align, v_minfree, r_align)
    integer :: nf90mpi_enddef
    NCID
    OFFSET, intent(in), optional :: h_minfree, v_align, v_minfree, r_align
    OFFSET, dimension(4) :: room
    room = 0
    if (present(h_minfree)) room(1) = h_minfree
    if (present(v_align)) room(2) = v_align
    if (present(v_minfree)) room(3) = v_minfree
    if (present(r_align)) room(4) = r_align
    nf90mpi_enddef = nfmpi__enddef(ncid, room(1), room(2), room(3), room(4))
  end function
PASS([sync], [ncid], [NCID])m4_dnl
PASS([sync_numrecs], [ncid], [NCID])m4_dnl
PASS([flush], [ncid], [NCID])m4_dnl
PASS([abort], [ncid], [NCID])m4_dnl

  ! Extensions. See pnetcdf_ext.h.

  ! Returns the message of nf90mpi_strerror in a variable of any length, or nf90_ests if the
  ! message does not fit.
  function nf90mpix_strerror(ncerr, text)
    integer :: nf90mpix_strerror
    integer, intent(in) :: ncerr
    character(len=*), intent(out) :: text
    interface
      function f90_message(err, text, len) bind(C, name='f90_message')
        import :: c_char, c_int, c_int64_t
        integer(c_int) :: f90_message
        integer(c_int), value :: err
        character(kind=c_char), dimension(*), intent(out) :: text
        integer(c_int64_t), value :: len
      end function
    end interface
    nf90mpix_strerror = f90_message(ncerr, text, len(text, c_int64_t))
  end function

  function nf90mpix_flush_start(ncid)
    integer :: nf90mpix_flush_start
    integer, external :: nfmpix_flush_start
    integer, intent(in) :: ncid
    nf90mpix_flush_start = nfmpix_flush_start(ncid)
  end function

  function nf90mpix_flush_test(ncid, done)
    integer :: nf90mpix_flush_test
    integer, external :: nfmpix_flush_test
    integer, intent(in) :: ncid
    logical, intent(out) :: done
    integer :: is_done
    is_done = 0
    nf90mpix_flush_test = nfmpix_flush_test(ncid, is_done)
    done = is_done /= 0
  end function

  ! NF90_GLOBAL denotes the whole file. Without start and count, the access covers the
  ! whole variable. Missing elements of a list default to 1.
m4_define([PREFETCH], [m4_dnl
  function nf90mpix_prefetch$1(ncid, varid, start, count)
    integer :: nf90mpix_prefetch$1
    integer, intent(in) :: ncid, varid
    OFFSET, dimension(:), intent(in), optional, contiguous :: start, count
    interface
      function f90_prefetch(all, ncid, varid, given, start, count) &
          bind(C, name='f90_prefetch')
        import :: c_int, c_int64_t
        integer(c_int) :: f90_prefetch
        integer(c_int), value :: all, ncid, varid
        integer(c_int64_t), intent(in) :: given(2)
        integer(c_int64_t), dimension(*), intent(in), optional :: start, count
      end function
    end interface
    OFFSET :: given(2)
    given = 0
    if (present(start)) given(1) = size(start, kind=MPI_OFFSET_KIND)
    if (present(count)) given(2) = size(count, kind=MPI_OFFSET_KIND)
    nf90mpix_prefetch$1 = f90_prefetch($2, ncid, varid, given, start, count)
  end function
])m4_dnl
PREFETCH([], [0])
PREFETCH([_all], [1])

  function nf90mpix_prefetch_wait(ncid)
    integer :: nf90mpix_prefetch_wait
    integer, external :: nfmpix_prefetch_wait
    NCID
    nf90mpix_prefetch_wait = nfmpix_prefetch_wait(ncid)
  end function

  function nf90mpix_def_var_quantize(ncid, varid, mode, digits)
    integer :: nf90mpix_def_var_quantize
    integer, external :: nfmpix_def_var_quantize
    integer, intent(in) :: ncid, varid, mode, digits
    nf90mpix_def_var_quantize = nfmpix_def_var_quantize(ncid, varid, mode, digits)
  end function

  function nf90mpix_inq_var_quantize(ncid, varid, mode, digits)
    integer :: nf90mpix_inq_var_quantize
    integer, external :: nfmpix_inq_var_quantize
    integer, intent(in) :: ncid, varid
    integer, intent(out), optional :: mode, digits
    integer :: found(2)
    found = 0
    nf90mpix_inq_var_quantize = nfmpix_inq_var_quantize(ncid, varid, found(1), found(2))
    if (present(mode)) mode = found(1)
    if (present(digits)) digits = found(2)
  end function

  function nf90mpix_wait_closed(path)
    integer :: nf90mpix_wait_closed
    integer, external :: nfmpix_wait_closed
    character(len=*), intent(in), optional :: path
    if (present(path)) then
      nf90mpix_wait_closed = nfmpix_wait_closed(path)
    else
      nf90mpix_wait_closed = nfmpix_wait_closed('')
    end if
  end function
PASS([close], [ncid], [NCID])m4_dnl
PASS([begin_indep_data], [ncid], [NCID])m4_dnl
PASS([end_indep_data], [ncid], [NCID])m4_dnl

  ! ---- contents and layout of a file ----

  function nf90mpi_inquire(ncid, nDimensions, nVariables, nAttributes, unlimitedDimId, &
      formatNum)
    integer :: nf90mpi_inquire
    NCID
    integer, intent(out), optional :: nDimensions, nVariables, nAttributes
    integer, intent(out), optional :: unlimitedDimId, formatNum
    integer, dimension(5) :: found
    nf90mpi_inquire = nfmpi_inq(ncid, found(1), found(2), found(3), found(4))
    if (nf90mpi_inquire == nf_noerr) nf90mpi_inquire = nfmpi_inq_format(ncid, found(5))
    if (nf90mpi_inquire /= nf_noerr) return
    if (present(nDimensions)) nDimensions = found(1)
    if (present(nVariables)) nVariables = found(2)
    if (present(nAttributes)) nAttributes = found(3)
    if (present(unlimitedDimId)) unlimitedDimId = found(4)
    if (present(formatNum)) formatNum = found(5)
  end function
PASS([inq_striping], [ncid, striping_size, striping_count],
  [NCID],
  [integer, intent(out) :: striping_size, striping_count])m4_dnl
PASS([inq_num_rec_vars], [ncid, nvars],
  [NCID],
  [integer, intent(out) :: nvars])m4_dnl
PASS([inq_num_fix_vars], [ncid, nvars],
  [NCID],
  [integer, intent(out) :: nvars])m4_dnl
PASS([inq_path], [ncid, pathlen, path],
  [NCID],
  [integer, intent(out) :: pathlen],
  [character(len=*), intent(out) :: path])m4_dnl
PASS([inq_put_size], [ncid, put_size],
  [NCID],
  [OFFSET, intent(out) :: put_size])m4_dnl
PASS([inq_get_size], [ncid, get_size],
  [NCID],
  [OFFSET, intent(out) :: get_size])m4_dnl
PASS([inq_header_size], [ncid, h_size],
  [NCID],
  [OFFSET, intent(out) :: h_size])m4_dnl
PASS([inq_header_extent], [ncid, h_extent],
  [NCID],
  [OFFSET, intent(out) :: h_extent])m4_dnl
PASS([inq_recsize], [ncid, recsize],
  [NCID],
  [OFFSET, intent(out) :: recsize])m4_dnl
PASS([inq_file_info], [ncid, mpi_info],
  [NCID],
  [integer, intent(out) :: mpi_info])m4_dnl
PASS([get_file_info], [ncid, mpi_info],
  [NCID],
  [integer, intent(out) :: mpi_info])m4_dnl

  ! ---- requests ----
PASS([inq_nreqs], [ncid, nreqs],
  [NCID],
  [integer, intent(out) :: nreqs])m4_dnl
PASS([buffer_attach], [ncid, bufsize],
  [NCID],
  [OFFSET, intent(in) :: bufsize])m4_dnl
PASS([buffer_detach], [ncid], [NCID])m4_dnl
PASS([inq_buffer_usage], [ncid, usage],
  [NCID],
  [OFFSET, intent(out) :: usage])m4_dnl
PASS([inq_buffer_size], [ncid, buf_size],
  [NCID],
  [OFFSET, intent(out) :: buf_size])m4_dnl
m4_define([REQUESTS], [
  ! If the lists are shorter than num, completes no requests, but the process still takes
  ! part in the call.
  function nf90mpi_$1(ncid, num, req, st)
    integer :: nf90mpi_$1
    integer, intent(in) :: ncid, num
    integer, dimension(:), contiguous, intent(inout) :: req
    integer, dimension(:), contiguous, intent(out) :: st
    if (num <= size(req) .and. num <= size(st)) then
      nf90mpi_$1 = nfmpi_$1(ncid, num, req, st)
    else
      nf90mpi_$1 = nfmpi_$1(ncid, 0, req, st)
      if (nf90mpi_$1 == nf_noerr) nf90mpi_$1 = nf_einval
    end if
  end function
])m4_dnl
REQUESTS([wait])m4_dnl
REQUESTS([wait_all])m4_dnl
REQUESTS([cancel])m4_dnl
