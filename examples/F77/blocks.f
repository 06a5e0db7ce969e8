! Divides a two-dimensional grid into blocks, one for each process. Each
! process writes its block with one call.
!
!     mpif77 -o blocks blocks.f $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./blocks
      program blocks
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nx, ny
      parameter (nx = 10, ny = 12)
      integer rank, nprocs, ierr, nc, dims(2), var, i, j
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), n
      doubleprecision values(nx * ny), value
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'blocks.nc'
      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_OFFSET), MPI_INFO_NULL, nc))
! The first dimension varies fastest, as in Fortran arrays. ncdump and C
! programs list it last.
      n = ny
      call check(nfmpi_def_dim(nc, 'y', n, dims(2)))
      n = nx
      call check(nfmpi_def_dim(nc, 'x', n, dims(1)))
      call check(nfmpi_def_var(nc, 'field', NF_DOUBLE, 2, dims, var))
      call check(nfmpi_enddef(nc))

      call find_block(rank, nprocs, start, count)
      do j = 1, int(count(2))
          do i = 1, int(count(1))
              values(i + (j - 1) * count(1)) = value(start, i, j)
          enddo
      enddo
      call check(nfmpi_put_vara_double_all(nc, var, start, count,
     &    values))
      print '(4(a,i0),a,i0,a)', 'process ', rank, ' wrote ', count(2),
     &    ' x ', count(1), ' elements from (', start(2), ', ',
     &    start(1), ')'

! After a sync, each process can read what the others wrote through the
! same open file. The processes may divide the grid differently for
! reading and for writing.
      call check(nfmpi_sync(nc))
      call find_block(nprocs - 1 - rank, nprocs, start, count)
      call check(nfmpi_get_vara_double_all(nc, var, start, count,
     &    values))
      do j = 1, int(count(2))
          do i = 1, int(count(1))
              if (values(i + (j - 1) * count(1)) .ne.
     &            value(start, i, j)) call check(NF_EREAD)
          enddo
      enddo
      call check(nfmpi_close(nc))
      call MPI_Finalize(ierr)
      end

! Sets the start and the size of a process's block in the grid of 10 x
! 12.
      subroutine find_block(rank, nprocs, start, count)
      implicit none
      include 'mpif.h'
      integer rank, nprocs, parts(2), place, size(2), d, ierr
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      data size /10, 12/
! MPI chooses how to arrange the processes: 4 processes form 2 x 2.
      parts(1) = 0
      parts(2) = 0
      call MPI_Dims_create(nprocs, 2, parts, ierr)
      do d = 1, 2
          place = mod(rank, parts(2))
          if (d .eq. 2) place = rank / parts(2)
          start(d) = size(d) * place / parts(3 - d) + 1
          count(d) = size(d) * (place + 1) / parts(3 - d) - start(d) + 1
      enddo
      end

! Returns the value of the grid at element (i, j) of a block.
      doubleprecision function value(start, i, j)
      implicit none
      include 'mpif.h'
      integer(kind=MPI_OFFSET_KIND) start(2)
      integer i, j
      value = dble(start(2) + j - 2) + 0.01d0 * dble(start(1) + i - 2)
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
