! Calls netCDF-Fortran's functions for groups, types, filters and parallel access on a classic file,
! and prints each error code and result. serial_programs.sh compiles this program with
! netCDF-Fortran's netcdf.inc and with ours. The output and the file must be the same.
program groups
  implicit none
  include 'netcdf.inc'
  character(len=200) :: path
  integer :: nc, x, v, group
  call get_command_argument(1, path)
  if (path == ' ') path = 'groups.nc'
  call say('create', nf_create(path, nf_clobber, nc))
  call say('def_dim', nf_def_dim(nc, 'x', 4, x))
  call say('def_var', nf_def_var(nc, 'v', nf_int, 1, (/ x /), v))
  call ask_groups()
  call ask_types()
  call ask_compounds()
  call ask_others()
  call say('close', nf_close(nc))
  call say('a file that is closed', nf_inq_grp_parent(nc, group))
  call say('the same', nf_def_compound(nc, 8, 'c', x))

contains

  subroutine say(what, err)
    character(len=*), intent(in) :: what
    integer, intent(in) :: err
    print '(a, 1x, i0)', what, err
  end subroutine

  subroutine ask_groups()
    integer :: n = -9, ids(4) = -9
    character(len=20) :: name = 'unchanged'
    call say('grps', nf_inq_grps(nc, n, ids))
    call say('how many', n)
    call say('grpname', nf_inq_grpname(nc, name))
    print '(a)', '"' // name // '"'
    call say('grpname_len', nf_inq_grpname_len(nc, n))
    call say('how long', n)
    name = ' '
    call say('grpname_full', nf_inq_grpname_full(nc, n, name))
    print '(a, i0)', '"' // name // '"', n
    call say('grp_parent', nf_inq_grp_parent(nc, group))
    call say('grp_full_ncid', nf_inq_grp_full_ncid(nc, '/', group))
    call say('ncid', nf_inq_ncid(nc, 'g', group))
    call say('the same', merge(1, 0, group == nc))
    call say('grp_ncid', nf_inq_grp_ncid(nc, 'g', group))
    call say('the same', merge(1, 0, group == nc))
    call say('def_grp', nf_def_grp(nc, 'g', group))
  end subroutine

  subroutine ask_types()
    integer :: t, n, ids(4), size
    character(len=nf_max_name) :: name
    character(len=8), parameter :: names(8) = (/ 'byte    ', 'char    ', 'short   ', &
      'int     ', 'float   ', 'double  ', 'string  ', 'nothing ' /)
    call say('typeids', nf_inq_typeids(nc, n, ids))
    call say('how many', n)
    do t = 0, 13
      size = -9
      call say('type', nf_inq_type(nc, t, name, size))
      call say('size', size) ! netCDF-Fortran does not set the name
    end do
    do t = 1, 8
      n = -9
      call say('typeid ' // names(t), nf_inq_typeid(nc, names(t), n))
      call say('which', n)
    end do
  end subroutine

  ! User-defined types: the error code does not depend on the other arguments.
  subroutine ask_compounds()
    integer :: a, b, c, d, e, sizes(4)
    character(len=20) :: name
    a = 20
    sizes = 1
    call say('def_compound', nf_def_compound(nc, 8, 'c', a))
    call say('insert_compound', nf_insert_compound(nc, 20, 'm', 0, nf_int))
    call say('inq_compound', nf_inq_compound(nc, 20, name, a, b))
    call say('inq_compound_size', nf_inq_compound_size(nc, 20, a))
    call say('inq_compound_nfields', nf_inq_compound_nfields(nc, 20, a))
    call say('inq_compound_fieldindex', nf_inq_compound_fieldindex(nc, 20, 'm', a))
    call say('def_enum', nf_def_enum(nc, nf_int, 'e', a))
    call say('inq_enum', nf_inq_enum(nc, 20, name, a, b, c))
    call say('def_opaque', nf_def_opaque(nc, 8, 'o', a))
    call say('inq_opaque', nf_inq_opaque(nc, 20, name, a))
    call say('def_vlen', nf_def_vlen(nc, 'v', nf_int, a))
    call say('inq_vlen', nf_inq_vlen(nc, 20, name, a, b))
    call say('inq_user_type', nf_inq_user_type(nc, 20, name, b, c, d, e))
  end subroutine

  subroutine ask_others()
    integer :: id, n, params(2)
    id = -9
    call say('filter', nf_inq_var_filter(nc, v, id, n, params))
    call say('which', id)
  end subroutine

end program
