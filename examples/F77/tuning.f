! Sets hints, which control how the library and MPI-IO access a file. A
! program passes them when it creates or opens the file. They never
! change its contents. The environment can set hints for an unmodified
! program:
!
!     PNETCDF_HINTS="nc_var_align_size=1048576" mpiexec ...
!
!     mpif77 -o tuning tuning.f $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./tuning
      program tuning
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer length
      parameter (length = 16)
      integer rank, nprocs, ierr, nc, dim, vars(2), v, i
      integer values(length)
      integer(kind=MPI_OFFSET_KIND) start(1), count(1), n
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'tuning.nc'
      start(1) = length * rank / nprocs + 1
      count(1) = length * (rank + 1) / nprocs - start(1) + 1

      call create(path, nc)
      n = length
      call check(nfmpi_def_dim(nc, 'x', n, dim))
      call check(nfmpi_def_var(nc, 'one', NF_INT, 1, dim, vars(1)))
      call check(nfmpi_def_var(nc, 'two', NF_INT, 1, dim, vars(2)))
      call check(nfmpi_enddef(nc))
      do i = 1, int(count(1))
          values(i) = int(start(1)) + i - 2
      enddo
      do v = 1, 2
          call check(nfmpi_put_vara_int_all(nc, vars(v), start, count,
     &        values))
      enddo

      if (rank .eq. 0) call print_hints(nc)
      call check(nfmpi_inq_varoffset(nc, vars(1), n))
      if (rank .eq. 0)
     &    print '(a,i0)', 'variable one starts at byte ', n
      call check(nfmpi_close(nc))
      call MPI_Finalize(ierr)
      end

      subroutine create(path, nc)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, info, ierr
      character*(*) path
      call MPI_Info_create(info, ierr)
! Aligns the first variable to a multiple of 4096 bytes in the file. On
! a parallel file system, use its stripe size. The header can grow into
! the padding when definitions are added later.
      call MPI_Info_set(info, 'nc_var_align_size', '4096', ierr)
! A hint for MPI-IO: collective buffering. Unknown hints are ignored.
      call MPI_Info_set(info, 'romio_cb_write', 'enable', ierr)
      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_DATA), info, nc))
! The library has its own copy.
      call MPI_Info_free(info, ierr)
      end

! Prints the hints in effect, which may differ from those requested.
      subroutine print_hints(nc)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, info, n, k, ierr
      logical set
      character*(MPI_MAX_INFO_KEY) key
      character*(MPI_MAX_INFO_VAL) value
      call check(nfmpi_inq_file_info(nc, info))
      call MPI_Info_get_nkeys(info, n, ierr)
      do k = 0, n - 1
          call MPI_Info_get_nthkey(info, k, key, ierr)
          call MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, set,
     &        ierr)
          if (set) print '(3a)', trim(key), ' = ', trim(value)
      enddo
      call MPI_Info_free(info, ierr)
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
