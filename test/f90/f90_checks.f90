! The harness of test/support/check.h for Fortran. Test bodies are subroutines that C
! calls: see f90_bodies.c.
module f90_checks
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: at_hand, expect, okay, same, equal, file_path, skip_case

  type, bind(C) :: check_case
    integer(c_int) :: rank, nprocs, format, cmode
    logical(c_bool) :: collective
  end type
  type(check_case), bind(C, name='check'), protected :: at_hand

  interface
    function check_that(held, text, file, line) bind(C)
      import
      logical(c_bool) :: check_that
      logical(c_bool), value :: held
      character(kind=c_char), dimension(*), intent(in) :: text, file
      integer(c_int), value :: line
    end function
    function check_nc(expected, rc, text, file, line) bind(C)
      import
      logical(c_bool) :: check_nc
      integer(c_int), value :: expected, rc, line
      character(kind=c_char), dimension(*), intent(in) :: text, file
    end function
    function check_eq(expected, number, text, file, line) bind(C)
      import
      logical(c_bool) :: check_eq
      integer(c_int64_t), value :: expected, number
      character(kind=c_char), dimension(*), intent(in) :: text, file
      integer(c_int), value :: line
    end function
    function check_path(name) bind(C)
      import
      type(c_ptr) :: check_path
      character(kind=c_char), dimension(*), intent(in) :: name
    end function
    subroutine check_skip(reason) bind(C)
      import
      character(kind=c_char), dimension(*), intent(in) :: reason
    end subroutine
    function strlen(text) bind(C)
      import
      integer(c_size_t) :: strlen
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! Checks that a result equals this error code.
  subroutine expect(code, err, what)
    integer, intent(in) :: code, err
    character(len=*), intent(in) :: what
    logical(c_bool) :: held
    held = check_nc(code, err, what // c_null_char, 'Fortran' // c_null_char, 0)
  end subroutine

  subroutine okay(err, what)
    integer, intent(in) :: err
    character(len=*), intent(in) :: what
    call expect(0, err, what)
  end subroutine

  subroutine same(held, what)
    logical, intent(in) :: held
    character(len=*), intent(in) :: what
    logical(c_bool) :: noted
    noted = check_that(logical(held, c_bool), what // c_null_char, &
      'Fortran' // c_null_char, 0)
  end subroutine

  subroutine equal(expected, number, what)
    integer(c_int64_t), intent(in) :: expected, number
    character(len=*), intent(in) :: what
    logical(c_bool) :: held
    held = check_eq(expected, number, what // c_null_char, 'Fortran' // c_null_char, 0)
  end subroutine

  ! Returns a path in the case's directory.
  function file_path(name)
    character(len=:), allocatable :: file_path
    character(len=*), intent(in) :: name
    type(c_ptr) :: text
    character(kind=c_char), dimension(:), pointer :: bytes
    integer :: i
    text = check_path(name // c_null_char)
    call c_f_pointer(text, bytes, (/ strlen(text) /))
    allocate (character(len=size(bytes)) :: file_path)
    do i = 1, size(bytes)
      file_path(i:i) = bytes(i)
    end do
  end function

  subroutine skip_case(reason)
    character(len=*), intent(in) :: reason
    call check_skip(reason // c_null_char)
  end subroutine

end module
