! Tests that the same definitions and values result in the same bytes when written by Fortran and by
! C (f77_twin_c.c).
      program twin
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer i, format(3)
      data format /0, NF_64BIT_OFFSET, NF_64BIT_DATA/
      call check_start(3, '1 2 3 4')
      do i = 1, 3
          call both(format(i))
          call check_done('files of Fortran and of C are the same')
      enddo
      call check_finish()
      end

      subroutine both(cmode)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer cmode, e, helper_twin_file, helper_same_files
      external helper_twin_file, helper_same_files
      character*300 mine, other
      call check_path('fortran.nc', mine)
      call check_path('c.nc', other)
      call write_file(mine, cmode)
      e = helper_twin_file(other, cmode)
      call check_equal(0, e, 'the file of C')
      call MPI_Barrier(MPI_COMM_WORLD, e)
      call check_equal(1, helper_same_files(mine, other), 'same bytes')
      call MPI_Barrier(MPI_COMM_WORLD, e)
      end

      subroutine write_file(path, cmode)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      character*(*) path
      integer cmode, nc, e, x, y, t, grid, words, grows, i, j, r, rank
      integer nprocs, dims(3)
      doubleprecision field(4, 3)
      integer*2 record(4, 3)
      character*5 word
      real limits(2)
      integer(kind=MPI_OFFSET_KIND) len, start(3), count(3)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
      call MPI_Comm_size(MPI_COMM_WORLD, nprocs, e)
      e = nfmpi_create(MPI_COMM_WORLD, path, cmode, MPI_INFO_NULL, nc)
      call check_equal(0, e, 'create')
      len = 4
      e = nfmpi_def_dim(nc, 'x', len, x)
      len = 3 * nprocs
      e = nfmpi_def_dim(nc, 'y', len, y)
      e = nfmpi_def_dim(nc, 'time', nfmpi_unlimited, t)
      dims(1) = x
      dims(2) = y
      dims(3) = t
      e = nfmpi_def_var(nc, 'grid', NF_DOUBLE, 2, dims, grid)
      e = nfmpi_def_var(nc, 'grows', NF_SHORT, 3, dims, grows)
      e = nfmpi_def_var(nc, 'words', NF_CHAR, 2, dims, words)
      len = 8
      e = nfmpi_put_att_text(nc, NF_GLOBAL, 'title', len, 'the same')
      limits(1) = -1.5
      limits(2) = 99
      len = 2
      e = nfmpi_put_att_real(nc, grid, 'range', NF_FLOAT, len, limits)
      e = nfmpi_enddef(nc)
      call check_equal(0, e, 'enddef')
      start(1) = 1
      start(2) = 3 * rank + 1
      count(1) = 4
      count(2) = 3
      count(3) = 1
      do j = 1, 3
          do i = 1, 4
              field(i, j) = i + 10 * (3 * rank + j) + 0.25d0
          enddo
      enddo
      e = nfmpi_put_vara_double_all(nc, grid, start, count, field)
      call check_equal(0, e, 'grid')
      do r = 1, 2
          start(3) = r
          do j = 1, 3
              do i = 1, 4
                  record(i, j) = int(100 * r + 10 * (3*rank+j) + i, 2)
              enddo
          enddo
          e = nfmpi_put_vara_int2_all(nc, grows, start, count, record)
          call check_equal(0, e, 'grows')
      enddo
      word = 'word '
      count(2) = 1
      do j = 1, 3
          start(2) = 3 * rank + j
          write (word(5:5), '(i1)') j
          e = nfmpi_put_vara_text_all(nc, words, start, count, word(2:))
          call check_equal(0, e, 'words')
      enddo
      call check_equal(0, nfmpi_close(nc), 'close')
      end
