! Writes, lists and changes attributes, which describe a variable or the whole file.
!
!     mpif90 -o metadata metadata.f90 $(pkg-config --cflags --libs pnetcdf)
!     mpiexec -n 4 ./metadata
program metadata
  use mpi
  use pnetcdf
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer :: file, natts
  integer :: rank, nprocs, ierr
  character(len=500) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  path = 'metadata.nc'
  if (command_argument_count() > 0) call get_command_argument(1, path)

  call check(nf90mpi_create(MPI_COMM_WORLD, path, nf90_clobber, MPI_INFO_NULL, file))
  call define()
  call change()
  call check(nf90mpi_inquire(file, nAttributes=natts)) ! attributes of the whole file
  if (rank == 0) call list(nf90_global)
  call check(nf90mpi_inquire_variable(file, 1, nAtts=natts))
  if (rank == 0) call list(1)
  call check(nf90mpi_close(file))
  call MPI_Finalize(ierr)

contains

  ! Checks the error code that a library call returned. If only one process exited, the others
  ! would wait forever, so an error aborts all of them.
  subroutine check(status)
    integer, intent(in) :: status
    integer :: ierr
    if (status == nf90_noerr) return
    print *, trim(nf90mpi_strerror(status))
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  ! Defines the variables and their attributes. Attributes are part of the definitions, so
  ! all processes make the same calls.
  subroutine define()
    integer :: dim, vars(2)
    call check(nf90mpi_def_dim(file, 'station', 4_offset, dim))
    call check(nf90mpi_def_var(file, 'temperature', nf90_float, dim, vars(1)))
    call check(nf90mpi_def_var(file, 'dew_point', nf90_float, dim, vars(2)))

    ! The type of the value determines the type of the attribute.
    call check(nf90mpi_put_att(file, nf90_global, 'title', 'What attributes are for'))
    call check(nf90mpi_put_att(file, nf90_global, 'version', int(3, selected_int_kind(4))))
    call check(nf90mpi_put_att(file, vars(1), 'units', 'degC'))
    call check(nf90mpi_put_att(file, vars(1), 'comment', 'to be removed'))
    call check(nf90mpi_put_att(file, vars(1), 'valid_range', (/ -40.5, 60. /)))
    call check(nf90mpi_copy_att(file, vars(1), 'units', file, vars(2)))
    call check(nf90mpi_enddef(file))
  end subroutine

  ! Changes attributes. In data mode, an attribute can only be replaced with one that is not
  ! larger. All other changes require define mode.
  subroutine change()
    integer :: var
    call check(nf90mpi_inq_varid(file, 'temperature', var))
    call check(nf90mpi_put_att(file, nf90_global, 'title', 'Attributes'))
    call check(nf90mpi_redef(file))
    call check(nf90mpi_del_att(file, var, 'comment'))
    call check(nf90mpi_rename_att(file, var, 'valid_range', 'actual_range'))
    call check(nf90mpi_enddef(file))
  end subroutine

  ! Lists all attributes without knowing their names.
  subroutine list(var)
    integer, intent(in) :: var
    integer :: i, type
    integer(kind=offset) :: length
    character(len=nf90_max_name) :: name
    character(len=:), allocatable :: text
    double precision, allocatable :: numbers(:)
    do i = 1, natts
      call check(nf90mpi_inq_attname(file, var, i, name))
      call check(nf90mpi_inquire_attribute(file, var, name, type, length))
      if (type == nf90_char) then
        allocate (character(len=length) :: text)
        call check(nf90mpi_get_att(file, var, name, text))
        print '(4a)', trim(name), ' = "', text, '"'
        deallocate (text)
      else
        allocate (numbers(length))
        call check(nf90mpi_get_att(file, var, name, numbers))
        print '(2a, *(f7.1))', trim(name), ' =', numbers
        deallocate (numbers)
      end if
    end do
  end subroutine

end program
