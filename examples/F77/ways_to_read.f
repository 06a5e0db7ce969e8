! Reads a file in three ways: on one process, collectively, and
! independently.
!
!     mpif77 -o ways_to_read ways_to_read.f \
!         $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./ways_to_read
      program ways_to_read
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer rank, nprocs, ierr, nc, var
      doubleprecision alone, together, at_will
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'ways_to_read.nc'
      call create(path, rank, nprocs)
      alone = 0
      if (rank .eq. 0) call read_alone(path, alone)
      call MPI_Bcast(alone, 1, MPI_DOUBLE_PRECISION, 0,
     &    MPI_COMM_WORLD, ierr)

      call check(nfmpi_open(MPI_COMM_WORLD, path, NF_NOWRITE,
     &    MPI_INFO_NULL, nc))
      call check(nfmpi_inq_varid(nc, 'v', var))
      call read_together(nc, var, rank, nprocs, together)
      call read_at_will(nc, var, rank, nprocs, at_will)
      call check(nfmpi_close(nc))

      if (rank .eq. 0) print '(a,3(1x,f0.1))', 'sums:', alone,
     &    together, at_will
      if (together .ne. alone .or. at_will .ne. alone)
     &    call check(NF_EREAD)
      call MPI_Finalize(ierr)
      end

! Computes which of the 20 elements belong to a process.
      subroutine find_part(rank, nprocs, start, count)
      implicit none
      include 'mpif.h'
      integer rank, nprocs
      integer(kind=MPI_OFFSET_KIND) start(1), count(1)
      start(1) = 20 * rank / nprocs + 1
      count(1) = 20 * (rank + 1) / nprocs - start(1) + 1
      end

      subroutine create(path, rank, nprocs)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*(*) path
      integer rank, nprocs, nc, dim, var, i
      integer(kind=MPI_OFFSET_KIND) start(1), count(1), n
      doubleprecision values(20)
      call find_part(rank, nprocs, start, count)
      call check(nfmpi_create(MPI_COMM_WORLD, path, NF_CLOBBER,
     &    MPI_INFO_NULL, nc))
      n = 20
      call check(nfmpi_def_dim(nc, 'x', n, dim))
      call check(nfmpi_def_var(nc, 'v', NF_DOUBLE, 1, dim, var))
      call check(nfmpi_enddef(nc))
      do i = 1, int(count(1))
          values(i) = 0.5d0 * dble(start(1) + i - 2)
      enddo
      call check(nfmpi_put_vara_double_all(nc, var, start, count,
     &    values))
      call check(nfmpi_close(nc))
      end

! On a communicator with one process, no call waits for other processes.
      subroutine read_alone(path, total)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*(*) path
      integer nc, var
      doubleprecision values(20), total
      call check(nfmpi_open(MPI_COMM_SELF, path, NF_NOWRITE,
     &    MPI_INFO_NULL, nc))
      call check(nfmpi_inq_varid(nc, 'v', var))
! The whole variable.
      call check(nfmpi_get_var_double_all(nc, var, values))
      call check(nfmpi_close(nc))
      total = sum(values)
      end

! All processes read their parts in one call, which is the fastest way
! for large files.
      subroutine read_together(nc, var, rank, nprocs, total)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, var, rank, nprocs, ierr
      integer(kind=MPI_OFFSET_KIND) start(1), count(1)
      doubleprecision values(20), mine, total
      call find_part(rank, nprocs, start, count)
      call check(nfmpi_get_vara_double_all(nc, var, start, count,
     &    values))
      mine = sum(values(1:int(count(1))))
      call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &    MPI_COMM_WORLD, ierr)
      end

! Reads in independent mode, in which each process may read any data at
! any time. Only switching the mode is collective.
      subroutine read_at_will(nc, var, rank, nprocs, total)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, var, rank, nprocs, i, ierr
      integer(kind=MPI_OFFSET_KIND) place(1)
      doubleprecision value, total
      total = 0
      call check(nfmpi_begin_indep_data(nc))
      if (rank .eq. nprocs - 1) then
          do i = 1, 20
              place(1) = i
              call check(nfmpi_get_var1_double(nc, var, place, value))
              total = total + value
          enddo
      endif
      call check(nfmpi_end_indep_data(nc))
      call MPI_Bcast(total, 1, MPI_DOUBLE_PRECISION, nprocs - 1,
     &    MPI_COMM_WORLD, ierr)
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
