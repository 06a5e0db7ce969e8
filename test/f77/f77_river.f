! test/serial/river.f, ported by following doc/porting.md. The rows of flow are divided among the
! processes. The file must be the same for any number of processes.
      program river
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*300 path
      character*4 unit
      integer nc, x, t, flow, gauge, e, i, rank, nprocs, r
      integer dims(2), whole(5)
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), len
      real values(5)
      call check_start(1, '1 2 4')
      call check_path('river.nc', path)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, e)
      call check(nfmpi_create(MPI_COMM_WORLD, path, NF_CLOBBER,
     &    MPI_INFO_NULL, nc), 'create')
      len = 5
      call check(nfmpi_def_dim(nc, 'x', len, x), 'x')
      call check(nfmpi_def_dim(nc, 'time', nfmpi_unlimited, t), 'time')
      dims(1) = x
      dims(2) = t
      call check(nfmpi_def_var(nc, 'flow', NF_REAL, 2, dims, flow), 'f')
      call check(nfmpi_def_var(nc, 'gauge', NF_INT, 1, dims, gauge),
     &    'gauge')
      len = 4
      call check(nfmpi_put_att_text(nc, flow, 'units', len, 'm3/s'),
     &    'units')
      call check(nfmpi_enddef(nc), 'enddef')
      do i = 1, 5
          whole(i) = i * i
      enddo
      call check(nfmpi_put_var_int_all(nc, gauge, whole), 'gauge')
      count(1) = 5
      start(1) = 1
      do r = 1, 8, nprocs
          start(2) = r + rank
          count(2) = 1
          if (start(2) .gt. 8) count(2) = 0
          do i = 1, 5
              values(i) = 0.5 * i + start(2)
          enddo
          call check(nfmpi_put_vara_real_all(nc, flow, start, count,
     &        values), 'flow')
      enddo
      call check(nfmpi_close(nc), 'close')

      call check(nfmpi_open(MPI_COMM_WORLD, path, NF_NOWRITE,
     &    MPI_INFO_NULL, nc), 'open')
      call check(nfmpi_inq_dimlen(nc, t, len), 'records')
      call check_that(len .eq. 8, 'all records are there')
      call check(nfmpi_get_att_text(nc, flow, 'units', unit), 'units')
      call check_that(unit .eq. 'm3/s', 'the units')
      count(2) = 1
      do r = 1, 8
          start(2) = r
          call check(nfmpi_get_vara_real_all(nc, flow, start, count,
     &        values), 'read')
          do i = 1, 5
              call check_that(values(i) .eq. 0.5 * i + r, 'a value')
          enddo
      enddo
      call check(nfmpi_close(nc), 'close')
      call check_done('the program of the porting guide')
      call check_finish()
      end

      subroutine check(status, what)
      implicit none
      integer status
      character*(*) what
      call check_equal(0, status, what)
      end
