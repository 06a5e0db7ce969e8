! Appends data over time: writes records, and a later run appends more
! to the same file.
!
!     mpif77 -o time_series time_series.f \
!         $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./time_series
      program time_series
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer rank, nprocs, ierr, nc, dims(2), var, step
      integer(kind=MPI_OFFSET_KIND) n, start(2), count(2)
      real values(6), temperature
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'time_series.nc'
      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_OFFSET), MPI_INFO_NULL, nc))
! The unlimited dimension comes last in Fortran. Variables that use it
! are stored record by record.
      call check(nfmpi_def_dim(nc, 'time', nfmpi_unlimited, dims(2)))
      n = 10
      call check(nfmpi_def_dim(nc, 'x', n, dims(1)))
      call check(nfmpi_def_var(nc, 'time', NF_DOUBLE, 1, dims(2), var))
      n = 28
      call check(nfmpi_put_att_text(nc, var, 'units', n,
     &    'hours since 2000-01-01 00:00'))
      call check(nfmpi_def_var(nc, 'temperature', NF_FLOAT, 2, dims,
     &    var))
      n = 1
      call check(nfmpi_put_att_text(nc, var, 'units', n, 'K'))
      call check(nfmpi_enddef(nc))
      call append(nc, rank, nprocs)
      call check(nfmpi_close(nc))

      call check(nfmpi_open(MPI_COMM_WORLD, path, NF_WRITE,
     &    MPI_INFO_NULL, nc))
      call append(nc, rank, nprocs)
      call check(nfmpi_sync(nc))

! Reads all steps at one location.
      start(1) = mod(rank, 10) + 1
      start(2) = 1
      count(1) = 1
      count(2) = 6
      call check(nfmpi_inq_varid(nc, 'temperature', var))
      call check(nfmpi_get_vara_real_all(nc, var, start, count, values))
      do step = 1, 6
          if (values(step) .ne. temperature(step, int(start(1))))
     &        call check(NF_EREAD)
      enddo
      call check(nfmpi_close(nc))
      print '(a,i0,2(a,f6.2),a,i0)', 'process ', rank, ': from ',
     &    values(1), ' to ', values(6), ' at x = ', start(1)
      call MPI_Finalize(ierr)
      end

! Writes three records after the existing ones.
      subroutine append(nc, rank, nprocs)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, rank, nprocs, dim, time, var, step, i
      integer(kind=MPI_OFFSET_KIND) records, now(1), one(1)
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      doubleprecision hours
      real values(10), temperature
      start(1) = 10 * rank / nprocs + 1
      count(1) = 10 * (rank + 1) / nprocs - start(1) + 1
      count(2) = 1
      call check(nfmpi_inq_unlimdim(nc, dim))
      call check(nfmpi_inq_dimlen(nc, dim, records))
      call check(nfmpi_inq_varid(nc, 'time', time))
      call check(nfmpi_inq_varid(nc, 'temperature', var))
      do step = int(records) + 1, int(records) + 3
! Process 0 writes the time; the others put no elements.
          now(1) = step
          one(1) = 0
          if (rank .eq. 0) one(1) = 1
          hours = 6 * (step - 1)
          call check(nfmpi_put_vara_double_all(nc, time, now, one,
     &        hours))
          start(2) = step
          do i = 1, int(count(1))
              values(i) = temperature(step, int(start(1)) + i - 1)
          enddo
          call check(nfmpi_put_vara_real_all(nc, var, start, count,
     &        values))
      enddo
      end

      real function temperature(step, x)
      implicit none
      integer step, x
      temperature = 280.0 + real(step - 1) + 0.1 * real(x - 1)
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
