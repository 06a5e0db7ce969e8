! Writes an array without its ghost cells, a frame around it that
! contains copies of the neighbours' elements and must not be written.
! An MPI datatype selects the elements in memory.
!
!     mpif77 -o ghost_cells ghost_cells.f \
!         $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./ghost_cells
      program ghost_cells
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nx, ny, ghost, wide
      parameter (nx = 6, ny = 12, ghost = 2, wide = nx + 2 * ghost)
      integer rank, nprocs, ierr, nc, dims(2), var, rows, x, y, type
      integer cell, inner_type
      integer band(wide, ny + 2 * ghost)
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), n, one
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'ghost_cells.nc'
      start(1) = 1
      start(2) = ny * rank / nprocs + 1
      count(1) = nx
      count(2) = ny * (rank + 1) / nprocs - start(2) + 1
      rows = int(count(2))

      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_DATA), MPI_INFO_NULL, nc))
      n = ny
      call check(nfmpi_def_dim(nc, 'y', n, dims(2)))
      n = nx
      call check(nfmpi_def_dim(nc, 'x', n, dims(1)))
      call check(nfmpi_def_var(nc, 'cell', NF_SHORT, 2, dims, var))
      call check(nfmpi_enddef(nc))

! If a function's name contains no type, pass an MPI datatype for the
! memory and the number of its items. start and count refer to the
! variable. Values are converted, here from integer to short. No
! datatype exists for 0 rows, so a process without rows passes 0 items.
      one = 0
      type = MPI_INTEGER
      if (rows .gt. 0) then
          one = 1
          type = inner_type(rows, nx, ghost)
      endif
      do y = 1, rows + 2 * ghost
          do x = 1, wide
              band(x, y) = -1
          enddo
      enddo
      do y = 1, rows
          do x = 1, nx
              band(ghost + x, ghost + y) =
     &            10 * (int(start(2)) + y - 2) + x - 1
          enddo
      enddo
      call check(nfmpi_put_vara_all(nc, var, start, count, band, one,
     &    type))

! Reading does not change the frame either.
      do y = 1, rows + 2 * ghost
          do x = 1, wide
              band(x, y) = -2
          enddo
      enddo
      call check(nfmpi_get_vara_all(nc, var, start, count, band, one,
     &    type))
      do y = 1, rows + 2 * ghost
          do x = 1, wide
              cell = -2
              if (x .gt. ghost .and. x .le. ghost + nx .and.
     &            y .gt. ghost .and. y .le. ghost + rows)
     &            cell = 10 * (int(start(2)) + y - ghost - 2)
     &                + x - ghost - 1
              if (band(x, y) .ne. cell) call check(NF_EREAD)
          enddo
      enddo

      if (rows .gt. 0) call MPI_Type_free(type, ierr)
      call check(nfmpi_close(nc))
      print '(a,i0,a,i0,a)', 'process ', rank, ' wrote ', rows,
     &    ' rows from the middle of its array'
      call MPI_Finalize(ierr)
      end

! Returns the datatype of the nx x rows elements inside the frame.
      integer function inner_type(rows, nx, ghost)
      implicit none
      include 'mpif.h'
      integer rows, nx, ghost, whole(2), inner(2), first(2), type, ierr
      whole(1) = nx + 2 * ghost
      whole(2) = rows + 2 * ghost
      inner(1) = nx
      inner(2) = rows
      first(1) = ghost
      first(2) = ghost
      call MPI_Type_create_subarray(2, whole, inner, first,
     &    MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierr)
      call MPI_Type_commit(type, ierr)
      inner_type = type
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
