! Writes columns of a table, first with strides, then from an array
! whose order in memory differs from the order in the file.
!
!     mpif77 -o columns columns.f $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./columns
      program columns
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer rows, cols
      parameter (rows = 6, cols = 10)
      integer rank, nprocs, ierr, nc, dims(2), vars(2), v, row, i, n
      integer values(rows * cols), element
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), stride(2)
      integer(kind=MPI_OFFSET_KIND) imap(2), length
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'columns.nc'
      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_DATA), MPI_INFO_NULL, nc))
      length = rows
      call check(nfmpi_def_dim(nc, 'row', length, dims(2)))
      length = cols
      call check(nfmpi_def_dim(nc, 'column', length, dims(1)))
      call check(nfmpi_def_var(nc, 'by_turns', NF_INT, 2, dims,
     &    vars(1)))
      call check(nfmpi_def_var(nc, 'in_blocks', NF_INT, 2, dims,
     &    vars(2)))
      call check(nfmpi_enddef(nc))

! vars: every nprocs-th column, starting with column `rank`. The order
! in memory is that of the file, row by row.
      n = 0
      start(1) = 1
      if (rank .lt. cols) then
          n = (cols - rank - 1) / nprocs + 1
          start(1) = rank + 1
      endif
      start(2) = 1
      count(1) = n
      count(2) = rows
      stride(1) = nprocs
      stride(2) = 1
      do row = 1, rows
          do i = 1, n
              values((row - 1) * n + i) =
     &            element(row, rank + 1 + (i - 1) * nprocs)
          enddo
      enddo
      call check(nfmpi_put_vars_int_all(nc, vars(1), start, count,
     &    stride, values))

! varm: a block of columns, stored in memory column by column. For each
! dimension, imap is the distance between neighbouring elements in
! memory.
      start(1) = cols * rank / nprocs + 1
      count(1) = cols * (rank + 1) / nprocs - start(1) + 1
      n = int(count(1))
      stride(1) = 1
      imap(1) = rows
      imap(2) = 1
      do i = 1, n
          do row = 1, rows
              values((i - 1) * rows + row) =
     &            element(row, int(start(1)) + i - 1)
          enddo
      enddo
      call check(nfmpi_put_varm_int_all(nc, vars(2), start, count,
     &    stride, imap, values))
      call check(nfmpi_sync(nc))

! All processes read one whole column.
      start(1) = cols
      count(1) = 1
      do v = 1, 2
          call check(nfmpi_get_vara_int_all(nc, vars(v), start, count,
     &        values))
          do row = 1, rows
              if (values(row) .ne. element(row, cols))
     &            call check(NF_EREAD)
          enddo
      enddo
      call check(nfmpi_close(nc))
      print '(a,i0,a,i0,a)', 'process ', rank, ' wrote ', n,
     &    ' columns in a block'
      call MPI_Finalize(ierr)
      end

      integer function element(row, column)
      implicit none
      integer row, column
      element = 100 * (row - 1) + column - 1
      end

! Checks the error code that a library call returned. If only one
! process exited, the others would wait forever, so an error aborts all
! of them.
      subroutine check(status)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer status, ierr
      if (status .eq. NF_NOERR) return
      print *, trim(nfmpi_strerror(status))
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      end
