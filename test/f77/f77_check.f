! The test harness for Fortran, with the output that run-mpi expects:
!     call check_start(tests, '1 2 4')   the number of tests, and process counts
!     call check_that(condition, 'what should be true')
!     call check_equal(expected, value, 'what')
!     call check_done('name of the test')
!     call check_finish()
! A failed check is recorded, and the test continues. check_done collects the results of all
! processes.
      subroutine check_start(tests, procs)
      implicit none
      include 'mpif.h'
      integer tests, err
      character*(*) procs
      character*20 argument
      logical bad
      common /check_state/ bad
      bad = .false.
      call get_command_argument(1, argument)
      if (argument .eq. '--cases') then
          print '(i0,2a)', tests, ': ', procs
          stop
      endif
      call MPI_Init(err)
      end

      subroutine check_that(holds, what)
      implicit none
      logical holds
      character*(*) what
      logical bad
      common /check_state/ bad
      if (.not. holds) then
          bad = .true.
          print '(2a)', '# does not hold: ', what
      endif
      end

      subroutine check_equal(expected, got, what)
      implicit none
      integer expected, got
      character*(*) what
      logical bad
      common /check_state/ bad
      if (expected .ne. got) then
          bad = .true.
          print '(3a,i0,a,i0)', '# ', what, ': expected ', expected,
     &        ', got ', got
      endif
      end

      subroutine check_done(name)
      implicit none
      include 'mpif.h'
      character*(*) name
      logical bad, any
      integer err, rank
      common /check_state/ bad
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
      call MPI_Allreduce(bad, any, 1, MPI_LOGICAL, MPI_LOR,
     &    MPI_COMM_WORLD, err)
      if (rank .eq. 0) then
          if (any) then
              print '(2a)', 'not ok 1 - ', name
          else
              print '(2a)', 'ok 1 - ', name
          endif
      endif
      bad = .false.
      end

      subroutine check_finish()
      implicit none
      integer err
      call MPI_Finalize(err)
      end

! Returns the path of a file in the test's directory.
      subroutine check_path(name, path)
      implicit none
      character*(*) name, path
      character*300 dir
      call get_environment_variable('NCMPI_TEST_DIR', dir)
      if (dir .eq. ' ') dir = '.'
      path = trim(dir)//'/'//name
      end
