m4_include(`tables.m4')m4_include([f77_tables.m4])m4_divert(-1)
/* Generates the same program in fixed and in free form (FORM is 77 or 90). No line
 * extends beyond column 72, and none is continued. */
m4_define([HEAD], [m4_ifelse(FORM, [90], [      use mpi
      implicit none], [      implicit none
      include 'mpif.h'])
      include 'pnetcdf.inc'
      include 'f77_every.inc'])

/* The arguments for each kind of access. */
m4_define([AT_var], [])
m4_define([AT_var1], [st,])
m4_define([AT_vara], [st,co,])
m4_define([AT_vars], [st,co,sd,])
m4_define([AT_varm], [st,co,sd,im,])
m4_define([AT_varn], [pieces,st,co,])

/* Each type's Fortran name, and the conversion of its values to and from integers. */
m4_define([FORTRAN_int1], [integer*1])
m4_define([FORTRAN_int2], [integer*2])
m4_define([FORTRAN_int], [integer])
m4_define([FORTRAN_int8], [integer*8])
m4_define([FORTRAN_real], [real])
m4_define([FORTRAN_double], [doubleprecision])
m4_define([FORTRAN_text], [character*1])
m4_define([FORTRAN_], [integer])
m4_define([SHORT], [m4_ifelse(F_SUFFIX, [], [], [m4_substr(F_SUFFIX, 1)])])
m4_define([SET], [m4_ifelse(F_SUFFIX, [_text], [char($1)], F_SUFFIX, [_int1], [int($1, 1)],
    F_SUFFIX, [_int2], [int($1, 2)], [$1])])
m4_define([VALUE], [m4_ifelse(F_SUFFIX, [_text], [ichar($1)], F_SUFFIX, [], [$1], [int($1)])])
m4_define([FLEX], [m4_ifelse(F_SUFFIX, [], [,bufcount,buftype])])
m4_define([REQ], [m4_ifelse(M_NAME, [put], [], M_NAME, [get], [], [,req])])
m4_define([IS_TEXT], [m4_ifelse(F_SUFFIX, [_text], [1], [0])])
m4_define([IS_ALL], [m4_ifelse(C_SUFFIX, [], [.false.], [.true.])])

m4_define([BEFORE_PUT], [      do i = 1, n
        buf(slot(i)) = SET([value(cell(i))])
      enddo
])
m4_define([AFTER_GET], [      do i = 1, n
        good = good .and. VALUE([buf(slot(i))]) .eq. model(cell(i))
      enddo
])
m4_define([CALL], [
      call choose('K_NAME', IS_ALL, 'M_NAME', IS_TEXT)
m4_ifelse(m4_index(M_NAME, [put]), [-1], [], [BEFORE_PUT[]])m4_dnl
      err = nfmpi_[]F77_DATA_NAME[](nc,v,m4_indir([AT_]K_NAME)buf[]FLEX[]REQ)
      call finish_call(err, 'F77_DATA_NAME')
m4_ifelse(m4_index(M_NAME, [put]), [-1], [AFTER_GET[]      call verify_get('F77_DATA_NAME')],
    [      call verify_put('F77_DATA_NAME')])
])
m4_divert[]m4_dnl
! Generated from f77_every.m4. Calls every data function. The values that it reads, or that it
! leaves in the file, are compared with a model in memory. C functions access the file for the
! comparison.
      program all_calls
HEAD
      character*300 path
      integer format(4)
      data format /0, NF_64BIT_OFFSET, NF_64BIT_DATA, NF_64BIT_DATA/
      call check_start(1, '1 2 3 4')
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, err)
      call check_path('every.nc', path)
      call create_file(path, format(nprocs))
foreach_f77_form([      call test[]F_SUFFIX
])m4_dnl
      call check_equal(0, nfmpi_buffer_detach(nc), 'detach')
      call check_equal(0, nfmpi_close(nc), 'close')
      call check_done('every data function does its work')
      call check_finish()
      end

! Creates four variables: numbers and text, each as a fixed-size and as a record variable. Each
! process owns NY indices of dimension y.
      subroutine create_file(path, cmode)
HEAD
      character*(*) path
      integer cmode, dims(ND)
      integer(kind=MPI_OFFSET_KIND) length, width
      err = nfmpi_create(MPI_COMM_WORLD, path, cmode, MPI_INFO_NULL, nc)
      call check_equal(0, err, 'create')
      length = NX
      err = nfmpi_def_dim(nc, 'x', length, dims(1))
      length = NY * nprocs
      err = nfmpi_def_dim(nc, 'y', length, dims(2))
      length = NZ
      err = nfmpi_def_dim(nc, 'z', length, dims(3))
      err = nfmpi_def_var(nc, 'fixed', NF_DOUBLE, ND, dims, ids(1, 0))
      err = nfmpi_def_var(nc, 'letters', NF_CHAR, ND, dims, ids(1, 1))
      err = nfmpi_def_dim(nc, 't', nfmpi_unlimited, dims(3))
      err = nfmpi_def_var(nc, 'grows', NF_SHORT, ND, dims, ids(2, 0))
      err = nfmpi_def_var(nc, 'words', NF_CHAR, ND, dims, ids(2, 1))
      call check_equal(0, err, 'def_var')
      call check_equal(0, nfmpi_enddef(nc), 'enddef')
      width = 8 * NX * NY * MAXPROCS * NZ
      call check_equal(0, nfmpi_buffer_attach(nc, width), 'attach')
      st(1, 1) = 1
      st(2, 1) = 1
      st(3, 1) = NZ
      err = nfmpi_put_var1_int_all(nc, ids(2, 0), st, 0)
      call check_equal(0, err, 'the last record')
      shape(1) = NX
      shape(2) = NY * nprocs
      shape(3) = NZ
      cells = NX * NY * nprocs * NZ
      serial = 0
      end

! Returns the value that a cell gets in this round.
      integer function value(c)
HEAD
      integer c
      value = 1 + mod(serial * 37 + c * 11, 100)
      end

! Returns a number below `limit` that depends on the round, the process and the number's purpose.
      integer function some(limit, r, what)
HEAD
      integer limit, r, what
      some = serial * 7919 + r * 104729 + what * 1299709
      some = mod(some / 13, limit)
      end

! Chooses the elements of process r in this round.
      subroutine place(kind, r)
HEAD
      character*(*) kind
      integer r, d, p, low, high, some
      external some
      pieces = 1
      if (kind .eq. 'varn') pieces = NZ
      do p = 1, pieces
        do d = 1, ND
          sd(d) = 1
          if (kind .eq. 'vars' .or. kind .eq. 'varm') then
            sd(d) = 1 + some(2, r, 5 + d)
          endif
          low = 1
          high = shape(d)
          if (d .eq. 2) low = 1 + r * NY
          if (d .eq. 2) high = low + NY - 1
          if (d .eq. 3 .and. pieces .gt. 1) low = p
          if (d .eq. 3 .and. pieces .gt. 1) high = p
          st(d, p) = low + some(high - low + 1, r, d + 10 * p)
          co(d, p) = (high - st(d, p)) / sd(d) + 1
          co(d, p) = some(int(co(d, p)) + 1, r, d + 20 * p)
          if (kind .eq. 'var1') co(d, p) = 1
          if (kind .eq. 'var') st(d, p) = 1
          if (kind .eq. 'var') co(d, p) = shape(d)
        enddo
      enddo
      call list(kind)
      end

! Lists the cells of the elements, and their positions in the buffer.
      subroutine list(kind)
HEAD
      character*(*) kind
      integer p, i, j, k, c
      integer(kind=MPI_OFFSET_KIND) at(ND)
      im(3) = 1
      im(2) = co(3, 1)
      im(1) = co(3, 1) * co(2, 1)
      n = 0
      do p = 1, pieces
        do k = 0, int(co(3, p)) - 1
          do j = 0, int(co(2, p)) - 1
            do i = 0, int(co(1, p)) - 1
              at(1) = st(1, p) + i * sd(1)
              at(2) = st(2, p) + j * sd(2)
              at(3) = st(3, p) + k * sd(3)
              c = int(at(1) + shape(1) * (at(2)-1 + shape(2)*(at(3)-1)))
              n = n + 1
              cell(n) = c
              slot(n) = spread * (n - 1) + 1
              if (kind .eq. 'varm') then
                slot(n) = int(1 + spread * (i*im(1)+j*im(2)+k*im(3)))
              endif
            enddo
          enddo
        enddo
      enddo
      end

! Prepares a call: chooses the elements that it accesses and the mode of the file, and updates the
! model. In odd rounds, buffers of flexible functions have gaps.
      subroutine choose(kind, all, mode, text)
HEAD
      character*(*) kind, mode
      logical all
      integer text, r, value
      external value
      serial = serial + 1
      is_text = text
      v = ids(1 + mod(serial, 2), text)
      posted = mode .ne. 'put' .and. mode .ne. 'get'
      together = all
      if (posted) together = mod(serial, 3) .eq. 0
      spread = 1
      if (flexible .and. mod(serial, 2) .eq. 1) spread = 2
      do r = 1, cells
        model(r) = value(r + 5)
      enddo
      err = helper_write_var(nc, v, text, cells, model)
      call check_equal(0, err, 'writing from C')
      if (index(mode, 'put') .gt. 0) then
        do r = 0, nprocs - 1
          call place(kind, r)
          call put_to_model()
        enddo
      endif
      call place(kind, rank)
      if (.not. posted .and. .not. together) then
        err = nfmpi_begin_indep_data(nc)
      endif
      call describe_buffer()
      good = .true.
      end

      subroutine put_to_model()
HEAD
      integer i, value
      external value
      do i = 1, n
        model(cell(i)) = value(cell(i))
      enddo
      end

      subroutine describe_buffer()
HEAD
      buftype = MPI_INTEGER
      bufcount = n
      if (spread .eq. 1) return
      call MPI_Type_vector(n, 1, 2, MPI_INTEGER, buftype, err)
      call MPI_Type_commit(buftype, err)
      bufcount = 1
      end

! Completes a call: frees the datatype, and then waits for a request in either mode.
      subroutine finish_call(rc, name)
HEAD
      integer rc, stat(1), reqs(1)
      character*(*) name
      call check_equal(0, rc, name)
      if (spread .eq. 2) call MPI_Type_free(buftype, err)
      if (posted) then
        call check_that(n .gt. 0 .or. req .eq. NF_REQ_NULL, name)
        reqs(1) = req
        if (together) then
          err = nfmpi_wait_all(nc, 1, reqs, stat)
        else
          err = nfmpi_begin_indep_data(nc)
          err = nfmpi_wait(nc, 1, reqs, stat)
        endif
        call check_equal(0, err, name // ': wait')
        call check_equal(0, stat(1), name // ': status')
        call check_equal(NF_REQ_NULL, reqs(1), name // ': id')
      endif
      if (.not. together) then
        call check_equal(0, nfmpi_end_indep_data(nc), name // ': end')
      endif
      end

      subroutine verify_get(name)
HEAD
      character*(*) name
      call check_that(good, name // ': the values read')
      end

      subroutine verify_put(name)
HEAD
      character*(*) name
      integer i
      err = nfmpi_sync(nc)
      call MPI_Barrier(MPI_COMM_WORLD, err)
      err = helper_read_var(nc, v, is_text, cells, seen)
      call check_equal(0, err, 'reading from C')
      do i = 1, cells
        good = good .and. seen(i) .eq. model(i)
      enddo
      call check_that(good, name // ': the values in the file')
      call MPI_Barrier(MPI_COMM_WORLD, err)
      end
foreach_f77_form([
      subroutine test[]F_SUFFIX
HEAD
      integer i, value
      external value
      m4_indir([FORTRAN_]SHORT) buf(2 * ROOM)
      flexible = m4_ifelse(F_SUFFIX, [], [.true.], [.false.])
foreach_f77_mode([foreach_f77_kind([m4_indir(M_SHARING, [CALL[]])])])m4_dnl
      end
])m4_dnl
