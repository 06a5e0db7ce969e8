! Makes nonblocking calls: posts many requests, and completes all of
! them with one call instead of one call for each variable.
!
!     mpif77 -o nonblocking nonblocking.f \
!         $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./nonblocking
      program nonblocking
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer vars, length
      parameter (vars = 5, length = 8)
      integer rank, nprocs, ierr, nc, dim, v, i, id(vars), req(vars)
      integer(kind=MPI_OFFSET_KIND) start(1), count(1), n
      real values(length, vars), one(length), expected
      character*300 path
      character*16 name
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'nonblocking.nc'
      start(1) = length * rank / nprocs + 1
      count(1) = length * (rank + 1) / nprocs - start(1) + 1
      call check(nfmpi_create(MPI_COMM_WORLD, path, NF_CLOBBER,
     &    MPI_INFO_NULL, nc))
      n = length
      call check(nfmpi_def_dim(nc, 'x', n, dim))
      do v = 1, vars
          write (name, '(a,i1)') 'tracer_', v - 1
          call check(nfmpi_def_var(nc, name, NF_FLOAT, 1, dim, id(v)))
      enddo
      call check(nfmpi_enddef(nc))

! iput: the program must not change the values before the wait.
      do v = 1, vars
          do i = 1, int(count(1))
              values(i, v) = 100 * (v - 1) + start(1) + i - 2
          enddo
          call check(nfmpi_iput_vara_real(nc, id(v), start, count,
     &        values(1, v), req(v)))
      enddo
      call wait_for(nc, vars, req)

! bput: copies the values to a buffer, which must be attached beforehand
! and large enough, so the array can be reused immediately. These values
! overwrite those of the last variable.
      n = 4 * length
      call check(nfmpi_buffer_attach(nc, n))
      do i = 1, int(count(1))
          one(i) = -(start(1) + i - 2)
      enddo
      call check(nfmpi_bput_vara_real(nc, id(vars), start, count, one,
     &    req(1)))
      one = 0
      call wait_for(nc, 1, req)
      call check(nfmpi_buffer_detach(nc))

! iget: the values are available after the wait.
      do v = 1, vars
          call check(nfmpi_iget_vara_real(nc, id(v), start, count,
     &        values(1, v), req(v)))
      enddo
      call wait_for(nc, vars, req)
      do v = 1, vars
          do i = 1, int(count(1))
              expected = 100 * (v - 1) + start(1) + i - 2
              if (v .eq. vars) expected = -(start(1) + i - 2)
              if (values(i, v) .ne. expected) call check(NF_EREAD)
          enddo
      enddo
      call check(nfmpi_close(nc))
      print '(2(a,i0),a,i0,a)', 'process ', rank, ': ', vars,
     &    ' variables, ', count(1), ' elements of each'
      call MPI_Finalize(ierr)
      end

! Completes all requests. Each has its own status.
      subroutine wait_for(nc, n, req)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, n, req(n), status(5), i
      call check(nfmpi_wait_all(nc, n, req, status))
      do i = 1, n
          call check(status(i))
      enddo
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
