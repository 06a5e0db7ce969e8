! Stages data near the processes. A training program reads the samples
! of a dataset in a different order in each epoch. Then a model reads
! its forcing record by record.
!
!     mpif77 -o epochs epochs.f $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./epochs samples.nc /local/scratch
      program epochs
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      include 'pnetcdf_ext.inc'
      integer samples, length, rounds
      parameter (samples = 40, length = 2000, rounds = 3)
      integer rank, nprocs, ierr, nc, var, info, i
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      doubleprecision total, epoch, forcing, expected
      character*300 path, where
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'epochs.nc'
      call get_command_argument(2, where)
      if (where .eq. ' ') where = '/tmp'
      expected = samples * (samples - 1) / 2
      call create(path, samples, length, rank, nprocs)

      call MPI_Info_create(info, ierr)
      call MPI_Info_set(info, 'nc_stage', 'enable', ierr)
      call MPI_Info_set(info, 'nc_stage_dirname', where, ierr)
      call check(nfmpi_open(MPI_COMM_WORLD, path, NF_NOWRITE, info,
     &    nc))
      call MPI_Info_free(info, ierr)
      call check(nfmpi_inq_varid(nc, 'v', var))
! Stage the variable in the background; the first epoch does not wait
! for it.
      start(1) = 1
      start(2) = 1
      count(1) = length
      count(2) = samples
      call check(nfmpix_prefetch(nc, var, start, count))
      total = forcing(nc, var, samples, length)
      if (abs(total - expected) .gt. 0.5) call check(NF_EREAD)
      call check(nfmpi_begin_indep_data(nc))
      do i = 1, rounds
          total = epoch(nc, var, samples, length, i, rank, nprocs)
          if (rank .eq. 0) print '(a,i0,a,f0.0)', 'epoch ', i, ': ',
     &        total
          if (abs(total - expected) .gt. 0.5) call check(NF_EREAD)
      enddo
      call check(nfmpi_end_indep_data(nc))
      call check(nfmpi_close(nc))
      call MPI_Finalize(ierr)
      end

      subroutine create(path, samples, length, rank, nprocs)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*(*) path
      integer samples, length, rank, nprocs, nc, dims(2), var, s, i
      integer(kind=MPI_OFFSET_KIND) start(2), count(2), n
      real values(length)
      call check(nfmpi_create(MPI_COMM_WORLD, path,
     &    ior(NF_CLOBBER, NF_64BIT_OFFSET), MPI_INFO_NULL, nc))
      n = NFMPI_UNLIMITED
      call check(nfmpi_def_dim(nc, 'sample', n, dims(2)))
      n = length
      call check(nfmpi_def_dim(nc, 'x', n, dims(1)))
      call check(nfmpi_def_var(nc, 'v', NF_FLOAT, 2, dims, var))
      call check(nfmpi_enddef(nc))
      do s = 1, samples
          start(1) = 1
          start(2) = s
          count(1) = length
          count(2) = 0
          if (rank .eq. mod(s - 1, nprocs)) count(2) = 1
          do i = 1, length
              values(i) = s + i - 2
          enddo
          call check(nfmpi_put_vara_real_all(nc, var, start, count,
     &        values))
      enddo
      call check(nfmpi_close(nc))
      end

! Reads the samples in an order on which all processes agree. Each
! process reads its share independently.
      doubleprecision function epoch(nc, var, samples, length, i, rank,
     &    nprocs)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, var, samples, length, i, rank, nprocs, n, by, ierr
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      real sample(length)
      doubleprecision mine
      by = 2 * i + 1
      if (mod(samples, by) .eq. 0) by = 1
      mine = 0
      do n = rank, samples - 1, nprocs
          start(1) = 1
          start(2) = mod(n * by + i, samples) + 1
          count(1) = length
          count(2) = 1
          call check(nfmpi_get_vara_real(nc, var, start, count,
     &        sample))
          mine = mine + sample(1)
      enddo
      call MPI_Allreduce(mine, epoch, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &    MPI_COMM_WORLD, ierr)
      end

! After the second record, the library stages the next one while the
! model computes.
      doubleprecision function forcing(nc, var, samples, length)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, var, samples, length, s
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      real field(length)
      forcing = 0
      do s = 1, samples
          start(1) = 1
          start(2) = s
          count(1) = length
          count(2) = 1
          call check(nfmpi_get_vara_real_all(nc, var, start, count,
     &        field))
          forcing = forcing + field(1)
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
      print *, nfmpi_strerror(status)
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      end
