! Compares the cost of putting and getting blocks of a three-dimensional
! grid in Fortran and in C. The two languages alternate for several
! rounds, and the best round of each is reported. The C part is
! f77_bench_c.c.
      program f77_bench
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer ROUNDS, CASES
      parameter (ROUNDS = 15, CASES = 4)
      integer nc, e, i, k, r, n, v, d(3), loops(CASES), side(CASES)
      doubleprecision t, best(2, 2), f77_bench_put, f77_bench_get
      external f77_bench_put, f77_bench_get
      integer(kind=MPI_OFFSET_KIND) len, start(3), count(3)
      real, allocatable :: values(:)
      character*200 path
      data side /1, 8, 32, 100/
      data loops /4000, 4000, 800, 20/
      call get_command_argument(1, path)
      if (path .eq. ' ') path = '/dev/shm/f77_bench.nc'
      call MPI_Init(e)
      allocate (values(100 * 100 * 100))
      values = 1.5
      e = nfmpi_create(MPI_COMM_WORLD, path, NF_64BIT_DATA,
     &    MPI_INFO_NULL, nc)
      len = 110
      do i = 1, 3
          e = nfmpi_def_dim(nc, char(96 + i), len, d(i))
      enddo
      e = nfmpi_def_var(nc, 'v', NF_FLOAT, 3, d, v)
      e = nfmpi_enddef(nc)
      if (e .ne. NF_NOERR) stop 1
      start = 3
      print '(2a)', '  elements  put: C us  Fortran us  ratio',
     &    '  get: C us  Fortran us  ratio'
      do k = 1, CASES
          count = side(k)
          best = 1d30
          do r = 1, ROUNDS
              best(1, 1) = min(best(1, 1),
     &            f77_bench_put(nc, v, start, count, values, loops(k)))
              t = MPI_Wtime()
              do n = 1, loops(k)
                  e = nfmpi_put_vara_real_all(nc, v, start, count,
     &                values)
                  if (e .ne. NF_NOERR) stop 1
              enddo
              best(2, 1) = min(best(2, 1), MPI_Wtime() - t)
              best(1, 2) = min(best(1, 2),
     &            f77_bench_get(nc, v, start, count, values, loops(k)))
              t = MPI_Wtime()
              do n = 1, loops(k)
                  e = nfmpi_get_vara_real_all(nc, v, start, count,
     &                values)
                  if (e .ne. NF_NOERR) stop 1
              enddo
              best(2, 2) = min(best(2, 2), MPI_Wtime() - t)
          enddo
          best = best / loops(k) * 1d6
          print '(i10,f11.2,f12.2,f7.3,f11.2,f12.2,f7.3)', side(k)**3,
     &        best(:, 1), best(2, 1) / best(1, 1),
     &        best(:, 2), best(2, 2) / best(1, 2)
      enddo
      e = nfmpi_close(nc)
      e = nfmpi_delete(path, MPI_INFO_NULL)
      call MPI_Finalize(e)
      end
