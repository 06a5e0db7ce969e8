! Handles errors, and continues after them.
!
!     mpif77 -o errors errors.f $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./errors
      program errors
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer rank, ierr, nc, dim, var, status, values(4)
      integer worst_of_all
      integer(kind=MPI_OFFSET_KIND) start(1), count(1), n
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'errors.nc'

      call expect(rank, NF_ENOENT, nfmpi_open(MPI_COMM_WORLD,
     &    'no such file', NF_NOWRITE, MPI_INFO_NULL, nc),
     &    'opening what is not there:')

      call check(nfmpi_create(MPI_COMM_WORLD, path, NF_CLOBBER,
     &    MPI_INFO_NULL, nc))
      n = 4
      call check(nfmpi_def_dim(nc, 'x', n, dim))
      call check(nfmpi_def_var(nc, 'v', NF_SHORT, 1, dim, var))
      call expect(rank, NF_ENAMEINUSE,
     &    nfmpi_def_var(nc, 'v', NF_INT, 1, dim, var),
     &    'a name taken already:')
      call check(nfmpi_inq_varid(nc, 'v', var))

! Data can be written only in data mode.
      start(1) = 1
      count(1) = 0
      if (rank .eq. 0) count(1) = 4
      values(1) = 1
      values(2) = 2
      values(3) = 100000
      values(4) = 4
      call expect(rank, NF_EINDEFINE,
     &    nfmpi_put_vara_int_all(nc, var, start, count, values),
     &    'data before nfmpi_enddef:')
      call check(nfmpi_enddef(nc))
      call expect(rank, NF_ENOTINDEP,
     &    nfmpi_put_vara_int(nc, var, start, count, values),
     &    'independent in collective mode:')

! 100000 is out of range for a short. The call stores the fill value in
! its place, and still writes the other elements.
      status = nfmpi_put_vara_int_all(nc, var, start, count, values)
      call expect(rank, NF_ERANGE, worst_of_all(status),
     &    'a value out of range:')

! One process reads beyond the end of the variable; the others succeed.
      if (rank .eq. 0) start(1) = 4
      count(1) = 2
      status = nfmpi_get_vara_int_all(nc, var, start, count, values)
      call expect(rank, NF_EEDGE, worst_of_all(status),
     &    'over the end of a dimension:')
      call check(nfmpi_close(nc))

      call expect(rank, NF_EBADID, nfmpi_close(nc), 'closing twice:')
      call expect(rank, NF_EEXIST, nfmpi_create(MPI_COMM_WORLD, path,
     &    NF_NOCLOBBER, MPI_INFO_NULL, nc), 'creating what is there:')
      call MPI_Finalize(ierr)
      end

! Checks that a call returned the error that this program provoked. Any
! other result is a failure. Error codes are negative, and each has a
! name and a message.
      subroutine expect(rank, code, status, what)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer rank, code, status
      character*(*) what
      if (rank .eq. 0) print '(a32,1x,a,a,a)', what,
     &    trim(nfmpi_strerrno(status)), ': ',
     &    trim(nfmpi_strerror(status))
      if (status .eq. code) return
      call check(status)
      call check(NF_EINVAL)
      end

! A process with a local error must still make every collective call, or
! the others would wait forever. So such a process continues, and all
! processes agree on the result afterwards.
      integer function worst_of_all(status)
      implicit none
      include 'mpif.h'
      integer status, worst, ierr
      call MPI_Allreduce(status, worst, 1, MPI_INTEGER, MPI_MIN,
     &    MPI_COMM_WORLD, ierr)
      worst_of_all = worst
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
