! Tests calls that are typical of models written in Fortran 77: requests for columns of arrays with
! halos, each with a status; lists of blocks; buffers described by MPI datatypes; text with start
! and count.
      program models
      implicit none
      include 'mpif.h'
      call check_start(3, '1 2 3')
      call requests
      call check_done('requests for columns, and their states')
      call blocks
      call check_done('lists of blocks, buffers described by MPI')
      call words
      call check_done('text by start and count, and of no length')
      call check_finish()
      end

! Creates a file with a field of 4 * (5 * processes), and names of 8 characters.
      subroutine model_file(name, nc, t, names)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*(*) name
      character*300 path
      integer nc, t, names, dims(2), e, nprocs
      integer(kind=MPI_OFFSET_KIND) len
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, e)
      call check_path(name, path)
      call check_equal(NF_NOERR, nfmpi_create(MPI_COMM_WORLD, path,
     &    NF_CLOBBER, MPI_INFO_NULL, nc), 'create')
      len = 4
      e = nfmpi_def_dim(nc, 'x', len, dims(1))
      len = 5 * nprocs
      e = nfmpi_def_dim(nc, 'y', len, dims(2))
      call check_equal(NF_NOERR, nfmpi_def_var(nc, 'temperature',
     &    NF_DOUBLE, 2, dims, t), 'def_var')
      len = 8
      e = nfmpi_def_dim(nc, 'characters', len, dims(1))
      call check_equal(NF_NOERR, nfmpi_def_var(nc, 'names', NF_CHAR, 2,
     &    dims, names), 'def_var')
      end

! Whole columns of a larger array are contiguous, so pending requests may use them directly.
      subroutine requests
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, t, names, e, i, j, rank, req(4), st(4), n
      doubleprecision a(4, 9), b(4, 9), c(6, 5)
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), size
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call model_file('requests.nc', nc, t, names)
      e = nfmpi_enddef(nc)
      do j = 1, 9
          do i = 1, 4
              a(i, j) = 1000 * rank + 10 * j + i + 0.25d0
              b(i, j) = -1
          enddo
      enddo
      size = 400
      call check_equal(NF_NOERR, nfmpi_buffer_attach(nc, size),
     &    'buffer_attach')
      start(1) = 1
      start(2) = 5 * rank + 1
      count(1) = 4
      count(2) = 3
      call check_equal(NF_NOERR, nfmpi_iput_vara_double(nc, t, start,
     &    count, a(:, 3:5), req(1)), 'iput of columns')
      start(2) = 5 * rank + 4
      count(2) = 2
! The compiler passes a temporary copy of a section with gaps, so bput
! must copy the values immediately.
      do j = 1, 5
          do i = 1, 6
              c(i, j) = 1000 * rank + 10 * (j + 5) + i - 1 + 0.25d0
          enddo
      enddo
      call check_equal(NF_NOERR, nfmpi_bput_vara_double(nc, t, start,
     &    count, c(2:5, 1:2), req(2)), 'bput of a section')
      do j = 1, 5
          do i = 1, 6
              c(i, j) = 0
          enddo
      enddo
      start(1) = 5
      call check_equal(NF_EINVALCOORDS, nfmpi_iput_vara_double(nc, t,
     &    start, count, a, req(3)), 'iput outside')
      call check_equal(NF_REQ_NULL, req(3), 'no request of an error')
      req(4) = NF_REQ_NULL
      st(4) = 7
      e = nfmpi_inq_nreqs(nc, n)
      call check_equal(2, n, 'inq_nreqs')
      call check_equal(NF_NOERR, nfmpi_wait_all(nc, 4, req, st), 'wait')
      do i = 1, 4
          call check_equal(NF_NOERR, st(i), 'state')
          call check_equal(NF_REQ_NULL, req(i), 'request')
      enddo
      e = nfmpi_buffer_detach(nc)
! One request gets all columns into the columns of another array.
      start(1) = 1
      start(2) = 5 * rank + 1
      count(2) = 5
      call check_equal(NF_NOERR, nfmpi_iget_vara_double(nc, t, start,
     &    count, b(1, 4), req(1)), 'iget')
      call check_equal(NF_NOERR, nfmpi_wait_all(nc, NF_REQ_ALL, req,
     &    st), 'wait for all')
      do j = 1, 9
          do i = 1, 4
              if (j .lt. 4) call check_that(b(i, j) .eq. -1, 'before')
              if (j .gt. 8) call check_that(b(i, j) .eq. -1, 'behind')
              if (j .ge. 4 .and. j .le. 8) call check_that(b(i, j) .eq.
     &            1000 * rank + 10 * (j - 1) + i + 0.25d0, 'a column')
          enddo
      enddo
      call check_equal(0, nfmpi_close(nc), 'close')
      end

      subroutine blocks
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, t, names, e, i, j, rank, type, lengths(2), full(2)
      integer from(2), req(1), st(1)
      doubleprecision v(6), w(4, 5), frame(6, 7)
      integer(kind=MPI_OFFSET_KIND) starts(2, 2), counts(2, 2), one
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call model_file('blocks.nc', nc, t, names)
      e = nfmpi_enddef(nc)
! Puts the inner part of an array that has a border.
      full(1) = 6
      full(2) = 7
      lengths(1) = 4
      lengths(2) = 5
      from(1) = 1
      from(2) = 1
      call MPI_Type_create_subarray(2, full, lengths, from,
     &    MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, type, e)
      call MPI_Type_commit(type, e)
      do j = 1, 7
          do i = 1, 6
              frame(i, j) = 100 * rank + 10 * j + i
          enddo
      enddo
      starts(1, 1) = 1
      starts(2, 1) = 5 * rank + 1
      counts(1, 1) = 4
      counts(2, 1) = 5
      one = 1
      call check_equal(NF_NOERR, nfmpi_put_vara_all(nc, t, starts,
     &    counts, frame, one, type), 'put of the core')
! Overwrites two blocks: two elements of a column, and a whole column.
      starts(1, 1) = 3
      starts(2, 1) = 5 * rank + 2
      counts(1, 1) = 2
      counts(2, 1) = 1
      starts(1, 2) = 1
      starts(2, 2) = 5 * rank + 5
      counts(1, 2) = 4
      counts(2, 2) = 1
      do i = 1, 6
          v(i) = -i
      enddo
      call check_equal(NF_NOERR, nfmpi_iput_varn_double(nc, t, 2,
     &    starts, counts, v, req), 'iput of blocks')
      call check_equal(NF_NOERR, nfmpi_wait_all(nc, 1, req, st), 'wait')
      starts(1, 1) = 1
      starts(2, 1) = 5 * rank + 1
      counts(1, 1) = 4
      counts(2, 1) = 5
      one = 20
      call check_equal(NF_NOERR, nfmpi_get_vara_all(nc, t, starts,
     &    counts, w, one, MPI_DOUBLE_PRECISION), 'get')
      do j = 1, 5
          do i = 1, 4
              if (j .eq. 5) then
                  call check_that(w(i, j) .eq. -i - 2, 'second block')
              else if (j .eq. 2 .and. i .ge. 3) then
                  call check_that(w(i, j) .eq. 2 - i, 'first block')
              else
                  call check_that(w(i, j) .eq. 100 * rank +
     &                10 * (j + 1) + i + 1, 'the core')
              endif
          enddo
      enddo
      call MPI_Type_free(type, e)
      call check_equal(0, nfmpi_close(nc), 'close')
      end

      subroutine words
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, t, names, e, rank, n
      character*8 list(5), back(5)
      character*20 text
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), len
      data list /'Oslo', 'Quito', ' ', 'Montreal', 'Ur'/
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call model_file('words.nc', nc, t, names)
      len = 0
      call check_equal(NF_NOERR, nfmpi_put_att_text(nc, t, 'empty',
     &    len, 'x'), 'an attribute of no characters')
      call check_equal(NF_NOERR, nfmpi_put_att_double(nc, t, 'none',
     &    NF_DOUBLE, len, 1d0), 'an attribute of no numbers')
      len = 3
      call check_equal(NF_NOERR, nfmpi_put_att_text(nc, t, 'units   ',
     &    len, 'degrees'), 'a part of a text, blanks behind a name')
      e = nfmpi_enddef(nc)
      call check_equal(NF_NOERR, nfmpi_inq_att(nc, t, 'empty', n, len),
     &    'inq_att')
      call check_that(n .eq. NF_CHAR .and. len .eq. 0, 'no characters')
      e = nfmpi_inq_att(nc, t, 'none', n, len)
      call check_that(n .eq. NF_DOUBLE .and. len .eq. 0, 'no numbers')
      text = '********************'
      call check_equal(NF_NOERR, nfmpi_get_att_text(nc, t, 'units',
     &    text), 'get_att_text')
      call check_that(text .eq. 'deg*****************',
     &    'what is behind a text stays')
      start(1) = 1
      start(2) = 5 * rank + 1
      count(1) = 8
      count(2) = 5
      call check_equal(NF_NOERR, nfmpi_put_vara_text_all(nc, names,
     &    start, count, list), 'put names')
      back(1) = '########'
      back(2) = '########'
      start(2) = 5 * rank + 4
      count(2) = 2
      call check_equal(NF_NOERR, nfmpi_get_vara_text_all(nc, names,
     &    start, count, back), 'get two')
      call check_that(back(1) .eq. 'Montreal' .and. back(2) .eq. 'Ur',
     &    'two names')
      start(1) = 5
      count(1) = 4
      count(2) = 1
      back(1) = '########'
      call check_equal(NF_NOERR, nfmpi_get_vara_text_all(nc, names,
     &    start, count, back(1)(3:6)), 'get a part')
      call check_that(back(1) .eq. '##real##', 'a part of a name')
      count(1) = 0
      call check_equal(NF_NOERR, nfmpi_put_vara_text_all(nc, names,
     &    start, count, ''), 'no characters')
      call check_equal(0, nfmpi_close(nc), 'close')
      end
