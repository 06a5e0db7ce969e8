! Writes elements that are scattered over a variable. A single varn
! call writes all of these pieces.
!
!     mpif77 -o scattered scattered.f \
!         $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./scattered
      program scattered
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nx, ny, width, pieces
      parameter (nx = 12, ny = 6, width = 3, pieces = nx * ny / width)
      integer rank, nprocs, ierr, nc, dims(2), var, n, piece, i
      integer values(width, pieces), corners(4)
      integer(kind=MPI_OFFSET_KIND) starts(2, pieces)
      integer(kind=MPI_OFFSET_KIND) counts(2, pieces), length
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'scattered.nc'
      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_DATA), MPI_INFO_NULL, nc))
      length = ny
      call check(nfmpi_def_dim(nc, 'y', length, dims(2)))
      length = nx
      call check(nfmpi_def_dim(nc, 'x', length, dims(1)))
      call check(nfmpi_def_var(nc, 'cards', NF_INT, 2, dims, var))
      call check(nfmpi_enddef(nc))

! Pieces are assigned to the processes round-robin. One array contains
! the values of all pieces, one after another. Processes may have
! different numbers of pieces, or none.
      n = 0
      do piece = rank, pieces - 1, nprocs
          n = n + 1
          starts(1, n) = mod(piece * width, nx) + 1
          starts(2, n) = piece * width / nx + 1
          counts(1, n) = width
          counts(2, n) = 1
          do i = 1, width
              values(i, n) = piece * width + i - 1
          enddo
      enddo
      call check(nfmpi_put_varn_int_all(nc, var, n, starts, counts,
     &    values))
      call check(nfmpi_sync(nc))

! Single elements: the four corners.
      do i = 1, 4
          starts(1, i) = 1
          if (mod(i, 2) .eq. 0) starts(1, i) = nx
          starts(2, i) = 1
          if (i .gt. 2) starts(2, i) = ny
          counts(1, i) = 1
          counts(2, i) = 1
      enddo
      call check(nfmpi_get_varn_int_all(nc, var, 4, starts, counts,
     &    corners))
      do i = 1, 4
          if (corners(i) .ne. (starts(2, i) - 1) * nx + starts(1, i)
     &        - 1) call check(NF_EREAD)
      enddo
      call check(nfmpi_close(nc))
      print '(a,i0,a,i0,a)', 'process ', rank, ' wrote ', n, ' pieces'
      call MPI_Finalize(ierr)
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
