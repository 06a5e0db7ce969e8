! Tests that netCDF-Fortran can read files written by nfmpi_ functions, and vice versa.
! netCDF-Fortran's constants have the same names, so its calls are in a separate file,
! f77_serial_nf.f.
      program serial
      implicit none
      include 'mpif.h'
      integer i, rank, e
      character*300 path
      call check_start(2, '1 3')
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call check_path('ours.nc', path)
      call write_ours(path)
      call MPI_Barrier(MPI_COMM_WORLD, e)
      if (rank .eq. 0) then
          call nf_reads(path)
      endif
      call check_done('netCDF-Fortran reads our files')
      do i = 1, 2
          call check_path('theirs.nc', path)
          if (rank .eq. 0) then
              call nf_writes(path, i)
          endif
          call MPI_Barrier(MPI_COMM_WORLD, e)
          call read_theirs(path)
          call MPI_Barrier(MPI_COMM_WORLD, e)
      enddo
      call check_done('we read files of netCDF-Fortran')
      call check_finish()
      end

      subroutine write_ours(path)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*(*) path
      integer nc, e, d(2), v, c, i, rank, nprocs
      real row(6)
      integer(kind=MPI_OFFSET_KIND) len, start(2), count(2)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, e)
      e = nfmpi_create(MPI_COMM_WORLD, path, NF_64BIT_DATA,
     &    MPI_INFO_NULL, nc)
      call check_equal(0, e, 'create')
      len = 6
      e = nfmpi_def_dim(nc, 'x', len, d(1))
      e = nfmpi_def_dim(nc, 't', nfmpi_unlimited, d(2))
      e = nfmpi_def_var(nc, 'v', NF_FLOAT, 2, d, v)
      e = nfmpi_def_var(nc, 'c', NF_CHAR, 1, d, c)
      len = 4
      e = nfmpi_put_att_text(nc, v, 'unit', len, 'm/s ')
      e = nfmpi_enddef(nc)
      start(1) = 1
      count(1) = 6
      count(2) = 1
      do i = 1, 6
          row(i) = 10 * rank + i + 0.5
      enddo
      start(2) = rank + 1
      e = nfmpi_put_vara_real_all(nc, v, start, count, row)
      call check_equal(0, e, 'put_vara_real_all')
      e = nfmpi_put_var_text_all(nc, c, 'abcdef')
      call check_equal(0, e, 'put_var_text_all')
      call check_equal(0, nfmpi_close(nc), 'close')
      end

      subroutine read_theirs(path)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*(*) path
      character*8 name
      integer nc, e, v, nd, d(2), na, x
      integer*2 block(3, 2)
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      e = nfmpi_open(MPI_COMM_WORLD, path, NF_NOWRITE, MPI_INFO_NULL,
     &    nc)
      call check_equal(0, e, 'open')
      e = nfmpi_inq_varid(nc, 'w', v)
      e = nfmpi_inq_var(nc, v, name, x, nd, d, na)
      call check_that(name .eq. 'w' .and. x .eq. NF_SHORT .and.
     &    nd .eq. 2 .and. d(1) .eq. 1 .and. d(2) .eq. 2, 'inq_var')
      start(1) = 2
      start(2) = 1
      count(1) = 3
      count(2) = 2
      e = nfmpi_get_vara_int2_all(nc, v, start, count, block)
      call check_equal(0, e, 'get_vara_int2_all')
      call check_that(block(1, 1) .eq. 12 .and. block(3, 1) .eq. 14
     &    .and. block(1, 2) .eq. 22 .and. block(3, 2) .eq. 24, 'block')
      call check_equal(0, nfmpi_close(nc), 'close')
      end
