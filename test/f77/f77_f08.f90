! Tests that handles of module mpi_f08 contain the integers that nfmpi_ functions expect.
program f08
    use mpi_f08
    implicit none
    include 'pnetcdf.inc'
    integer :: nc, e, x, v, rank, nprocs, value(2), seen(2)
    integer(kind=MPI_OFFSET_KIND) :: start(1), count(1), n
    type(MPI_Comm) :: comm
    type(MPI_Info) :: info
    type(MPI_Datatype) :: pair
    character(len=300) :: path
    call check_start(1, '1 2 4')
    call check_path('f08.nc', path)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, nprocs)
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'nc_header_align_size', '512')
    e = nfmpi_create(comm%MPI_VAL, path, ior(NF_CLOBBER, NF_64BIT_DATA), info%MPI_VAL, nc)
    call check_equal(NF_NOERR, e, 'create')
    call MPI_Info_free(info)
    n = 2 * nprocs
    e = nfmpi_def_dim(nc, 'x', n, x)
    e = nfmpi_def_var(nc, 'v', NF_INT, 1, [x], v)
    e = nfmpi_enddef(nc)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    start = 2 * rank + 1
    count = 2
    value = [rank, -rank]
    n = 1
    e = nfmpi_put_vara_all(nc, v, start, count, value, n, pair%MPI_VAL)
    call check_equal(NF_NOERR, e, 'put_vara_all')
    e = nfmpi_get_vara_all(nc, v, start, count, seen, count(1), MPI_INTEGER%MPI_VAL)
    call check_that(e == NF_NOERR .and. all(seen == value), 'get_vara_all')
    e = nfmpi_get_vara_all(nc, v, start, count, seen, NF_COUNT_IGNORE, MPI_INTEGER%MPI_VAL)
    call check_equal(NF_NOERR, e, 'as many as count tells')
    call MPI_Type_free(pair)
    call check_equal(NF_NOERR, nfmpi_inq_file_info(nc, info%MPI_VAL), 'inq_file_info')
    call MPI_Info_get_nkeys(info, e)
    call check_that(e > 0, 'the hints in force')
    call MPI_Info_free(info)
    call check_equal(NF_NOERR, nfmpi_close(nc), 'close')
    call MPI_Comm_free(comm)
    call check_done('handles of mpi_f08')
    call check_finish()
end program
