! A first program. All processes create a file together, and each writes
! its part of one variable. Then they reopen the file, and each reads
! what its neighbour wrote.
!
!     mpif77 -o first_file first_file.f \
!         $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./first_file
      program first_file
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer length
      parameter (length = 24)
      integer rank, nprocs, ierr, nc, dim, var, i, values(length)
      integer(kind=MPI_OFFSET_KIND) start(1), count(1), n
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'first_file.nc'

! NF_CLOBBER replaces an existing file. NF_64BIT_DATA selects the format
! CDF-5, which has no size limits. The default format is CDF-1.
      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_DATA), MPI_INFO_NULL, nc))

! Definitions: all processes make the same calls. Lengths are of kind
! MPI_OFFSET_KIND; a literal 24 would be wrong.
      n = length
      call check(nfmpi_def_dim(nc, 'x', n, dim))
      call check(nfmpi_def_var(nc, 'square', NF_INT, 1, dim, var))
      n = 11
      call check(nfmpi_put_att_text(nc, var, 'long_name', n,
     &    'square of x'))
      call check(nfmpi_enddef(nc))

! Data: each process writes its own part. Functions whose names end in
! _all are collective: all processes call them together.
      call find_part(rank, nprocs, start, count)
      do i = 1, int(count(1))
          values(i) = int((start(1) + i - 2)**2)
      enddo
      call check(nfmpi_put_vara_int_all(nc, var, start, count, values))
      call check(nfmpi_close(nc))

      call check(nfmpi_open(MPI_COMM_WORLD, path, NF_NOWRITE,
     &    MPI_INFO_NULL, nc))
      call check(nfmpi_inq_varid(nc, 'square', var))
      call find_part(mod(rank + 1, nprocs), nprocs, start, count)
      call check(nfmpi_get_vara_int_all(nc, var, start, count, values))
      call check(nfmpi_close(nc))
      do i = 1, int(count(1))
          if (values(i) .ne. (start(1) + i - 2)**2) call check(NF_EREAD)
      enddo
      print '(a,i0,a,i0,a)', 'process ', rank, ' read ', count(1),
     &    ' values'
      call MPI_Finalize(ierr)
      end

! Computes which of the 24 elements belong to a process. All processes
! get nearly the same number.
      subroutine find_part(rank, nprocs, start, count)
      implicit none
      include 'mpif.h'
      integer rank, nprocs
      integer(kind=MPI_OFFSET_KIND) start(1), count(1)
      start(1) = 24 * rank / nprocs + 1
      count(1) = 24 * (rank + 1) / nprocs - start(1) + 1
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
