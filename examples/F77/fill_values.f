! Fills elements that no process writes: in fill mode they get a fill
! value, which readers interpret as "no data".
!
!     mpif77 -o fill_values fill_values.f \
!         $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./fill_values
      program fill_values
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer length
      parameter (length = 12)
      integer rank, nprocs, ierr, nc, vars(3), off, missing, i
      integer(kind=MPI_OFFSET_KIND) record, place(2), one(2)
      real none, last, values(2 * length)
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'fill_values.nc'
      call check(nfmpi_create(MPI_COMM_WORLD, path, NF_CLOBBER,
     &    MPI_INFO_NULL, nc))
      call define(nc, vars)
      call write_half(nc, vars(1), rank, nprocs)
      call write_half(nc, vars(2), rank, nprocs)

! Each record must be filled explicitly, before any part of it is
! written.
      do i = 1, 2
          record = i
          call check(nfmpi_fill_var_rec(nc, vars(3), record))
      enddo
      place(1) = length
      place(2) = 2
      one(1) = 0
      if (rank .eq. 0) one(1) = 1
      one(2) = 1
      last = 1
      call check(nfmpi_put_vara_real_all(nc, vars(3), place, one, last))
      call check(nfmpi_sync(nc))

! A reader can query the fill mode: `off` is 1 if the variable is not
! filled.
      call check(nfmpi_inq_var_fill(nc, vars(3), off, none))
      call check(nfmpi_get_var_real_all(nc, vars(3), values))
      missing = 0
      do i = 1, 2 * length
          if (values(i) .eq. none) missing = missing + 1
      enddo
      print '(3(a,i0),a)', 'process ', rank, ': ', missing, ' of ',
     &    2 * length, ' elements have no data'
      if (off .ne. 0 .or. missing .ne. 2 * length - 1)
     &    call check(NF_EREAD)
      call check(nfmpi_close(nc))
      call MPI_Finalize(ierr)
      end

      subroutine define(nc, vars)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, vars(3), dims(2), off
      integer(kind=MPI_OFFSET_KIND) n
      real none
      none = -999
      n = 12
      call check(nfmpi_def_dim(nc, 'time', nfmpi_unlimited, dims(2)))
      call check(nfmpi_def_dim(nc, 'x', n, dims(1)))
      call check(nfmpi_def_var(nc, 'default_fill', NF_INT, 1, dims(1),
     &    vars(1)))
      call check(nfmpi_def_var(nc, 'own_fill', NF_FLOAT, 1, dims(1),
     &    vars(2)))
      call check(nfmpi_def_var(nc, 'records', NF_FLOAT, 2, dims,
     &    vars(3)))

! Filling costs an additional write, so it is off by default. It can be
! enabled for all variables with the default values of their types ...
      call check(nfmpi_set_fill(nc, NF_FILL, off))
! ... and for one variable with a given value, which becomes the
! variable's attribute _FillValue.
      call check(nfmpi_def_var_fill(nc, vars(2), 0, none))
      call check(nfmpi_def_var_fill(nc, vars(3), 0, none))
! This fills the fixed-size variables.
      call check(nfmpi_enddef(nc))
      end

! Process r writes elements r + 1, r + 1 + nprocs ... of the first half.
! The rest is not written.
      subroutine write_half(nc, var, rank, nprocs)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, var, rank, nprocs, i
      integer(kind=MPI_OFFSET_KIND) start(1), count(1), stride(1)
      real values(6)
! The call is collective, even without values.
      start(1) = 1
      count(1) = 0
      stride(1) = nprocs
      if (rank .lt. 6) then
          start(1) = rank + 1
          count(1) = (6 - rank - 1) / nprocs + 1
      endif
      do i = 1, int(count(1))
          values(i) = rank + (i - 1) * nprocs
      enddo
      call check(nfmpi_put_vars_real_all(nc, var, start, count, stride,
     &    values))
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
