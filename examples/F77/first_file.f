! The first program: all processes create a file together, and each
! writes its part of one variable. Then they open it again and read what
! their neighbour wrote.
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

! NF_CLOBBER: a file of that name is replaced. NF_64BIT_DATA: the format
! CDF-5, which has no limits of size. Without it, the format is CDF-1.
      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_DATA), MPI_INFO_NULL, nc))

! Definitions: every process makes the same ones. Lengths are of
! MPI_OFFSET_KIND: a plain 24 would be wrong.
      n = length
      call check(nfmpi_def_dim(nc, 'x', n, dim))
      call check(nfmpi_def_var(nc, 'square', NF_INT, 1, dim, var))
      n = 11
      call check(nfmpi_put_att_text(nc, var, 'long_name', n,
     &    'square of x'))
      call check(nfmpi_enddef(nc))

! Data: every process has its own. A function whose name ends in _all is
! collective, called by all processes together.
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

! The part of 24 elements that a process takes; all are nearly equal.
      subroutine find_part(rank, nprocs, start, count)
      implicit none
      include 'mpif.h'
      integer rank, nprocs
      integer(kind=MPI_OFFSET_KIND) start(1), count(1)
      start(1) = 24 * rank / nprocs + 1
      count(1) = 24 * (rank + 1) / nprocs - start(1) + 1
      end

! Every function tells by its result whether it did what it should.
! One process that stops would leave the others waiting, so all are
! stopped.
      subroutine check(status)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer status, ierr
      if (status .eq. NF_NOERR) return
      print *, trim(nfmpi_strerror(status))
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      end
