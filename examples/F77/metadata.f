! Writes, lists and changes attributes, which describe a variable or the
! whole file.
!
!     mpif77 -o metadata metadata.f \
!         $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./metadata
      program metadata
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer rank, ierr, nc, natts
      character*300 path
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call get_command_argument(1, path)
      if (path .eq. ' ') path = 'metadata.nc'
      call check(nfmpi_create(MPI_COMM_WORLD, path, NF_CLOBBER,
     &    MPI_INFO_NULL, nc))
      call define(nc)
      call change(nc)
! Attributes of the whole file.
      call check(nfmpi_inq_natts(nc, natts))
      if (rank .eq. 0) call list(nc, NF_GLOBAL, natts)
      call check(nfmpi_inq_varnatts(nc, 1, natts))
      if (rank .eq. 0) call list(nc, 1, natts)
      call check(nfmpi_close(nc))
      call MPI_Finalize(ierr)
      end

! Defines the variables and their attributes. Attributes are part of the
! definitions, so all processes make the same calls.
      subroutine define(nc)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, dim, vars(2)
      integer(kind=MPI_OFFSET_KIND) n
      doubleprecision range(2)
      data range /-40.5d0, 60d0/
      n = 4
      call check(nfmpi_def_dim(nc, 'station', n, dim))
      call check(nfmpi_def_var(nc, 'temperature', NF_FLOAT, 1, dim,
     &    vars(1)))
      call check(nfmpi_def_var(nc, 'dew_point', NF_FLOAT, 1, dim,
     &    vars(2)))

      call put_text(nc, NF_GLOBAL, 'title', 'What attributes are for')
! The type in the file and the type in memory may differ.
      n = 1
      call check(nfmpi_put_att_int(nc, NF_GLOBAL, 'version', NF_SHORT,
     &    n, 3))

      call put_text(nc, vars(1), 'units', 'degC')
      call put_text(nc, vars(1), 'comment', 'to be removed')
      n = 2
      call check(nfmpi_put_att_double(nc, vars(1), 'valid_range',
     &    NF_FLOAT, n, range))
      call check(nfmpi_copy_att(nc, vars(1), 'units', nc, vars(2)))
      call check(nfmpi_enddef(nc))
      end

! Changes attributes. In data mode, an attribute can only be replaced
! with one that is not larger. All other changes require define mode.
      subroutine change(nc)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, var
      call check(nfmpi_inq_varid(nc, 'temperature', var))
      call put_text(nc, NF_GLOBAL, 'title', 'Attributes')
      call check(nfmpi_redef(nc))
      call check(nfmpi_del_att(nc, var, 'comment'))
      call check(nfmpi_rename_att(nc, var, 'valid_range',
     &    'actual_range'))
      call check(nfmpi_enddef(nc))
      end

! Lists all attributes without knowing their names. Reads numbers as
! double precision, and text as text.
      subroutine list(nc, var, natts)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, var, natts, i, type
      integer(kind=MPI_OFFSET_KIND) n
      character*(NF_MAX_NAME) name
      character*64 text
      doubleprecision numbers(8)
      do i = 1, natts
          call check(nfmpi_inq_attname(nc, var, i, name))
          call check(nfmpi_inq_att(nc, var, name, type, n))
          if (type .eq. NF_CHAR .and. n .le. len(text)) then
              call check(nfmpi_get_att_text(nc, var, name, text))
              print '(4a)', trim(name), ' = "', text(1:int(n)), '"'
          elseif (type .ne. NF_CHAR .and. n .ge. 1 .and. n .le. 8) then
              call check(nfmpi_get_att_double(nc, var, name, numbers))
              print '(2a,f0.1,a,i0,a)', trim(name), ' = ', numbers(1),
     &            ' ... (', n, ')'
          endif
      enddo
      end

      subroutine put_text(nc, var, name, text)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer nc, var
      integer(kind=MPI_OFFSET_KIND) n
      character*(*) name, text
      n = len(text)
      call check(nfmpi_put_att_text(nc, var, name, n, text))
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
