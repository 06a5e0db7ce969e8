
  ! ---- versions for users of mpi_f08, where handles are derived types ----

  function f90_create_f08(mpi_comm, path, cmode, mpi_info, ncid) result(err)
    integer :: err
    type(f08_comm), intent(in) :: mpi_comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: cmode
    type(f08_info), intent(in) :: mpi_info
    integer, intent(out) :: ncid
    err = nfmpi_create(mpi_comm%MPI_VAL, path, cmode, mpi_info%MPI_VAL, ncid)
  end function

  function f90_open_f08(mpi_comm, path, omode, mpi_info, ncid) result(err)
    integer :: err
    type(f08_comm), intent(in) :: mpi_comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: omode
    type(f08_info), intent(in) :: mpi_info
    integer, intent(out) :: ncid
    err = nfmpi_open(mpi_comm%MPI_VAL, path, omode, mpi_info%MPI_VAL, ncid)
  end function

  function f90_delete_f08(name, mpi_info) result(err)
    integer :: err
    character(len=*), intent(in) :: name
    type(f08_info), intent(in) :: mpi_info
    err = nfmpi_delete(name, mpi_info%MPI_VAL)
  end function

  function f90_inq_file_info_f08(ncid, mpi_info) result(err)
    integer :: err
    integer, intent(in) :: ncid
    type(f08_info), intent(out) :: mpi_info
    err = nfmpi_inq_file_info(ncid, mpi_info%MPI_VAL)
  end function

  function f90_get_file_info_f08(ncid, mpi_info) result(err)
    integer :: err
    integer, intent(in) :: ncid
    type(f08_info), intent(out) :: mpi_info
    err = nfmpi_get_file_info(ncid, mpi_info%MPI_VAL)
  end function
