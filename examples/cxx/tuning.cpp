/* Sets hints, which control how the library and MPI-IO access a file. A program passes
 * them when it creates or opens the file. They never change its contents.
 *
 *     mpicxx -o tuning tuning.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./tuning */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

enum { LENGTH = 16 };

static NcmpiFile create(const std::string &path)
{
    MPI_Info info;
    MPI_Info_create(&info);
    /* Aligns the first variable to a multiple of 4096 bytes in the file. On a parallel
     * file system, use its stripe size. The header can grow into the padding when
     * definitions are added later. */
    MPI_Info_set(info, "nc_var_align_size", "4096");
    /* A hint for MPI-IO: collective buffering. Unknown hints are ignored. */
    MPI_Info_set(info, "romio_cb_write", "enable");
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic5, info);
    MPI_Info_free(&info); /* the library has its own copy */
    return file;
}

/* Prints the hints in effect, which may differ from those requested. */
static void print_hints(NcmpiFile &file)
{
    MPI_Info info;
    int n, set;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    file.Inq_file_info(&info);
    MPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &set);
        if (set) std::cout << key << " = " << value << "\n";
    }
    MPI_Info_free(&info);
}

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    const MPI_Offset start = LENGTH * rank / nprocs;
    const MPI_Offset count = LENGTH * (rank + 1) / nprocs - start;

    NcmpiFile file = create(path);
    const NcmpiDim dim = file.addDim("x", LENGTH);
    NcmpiVar one = file.addVar("one", ncmpiInt, dim),
             two = file.addVar("two", ncmpiInt, dim);
    std::vector<int> values;
    for (MPI_Offset i = 0; i < count; i++)
        values.push_back(static_cast<int>(start + i));
    for (const NcmpiVar &var : {one, two})
        var.putVar_all({start}, {count}, values.data());

    MPI_Offset offset;
    if (rank == 0) print_hints(file);
    one.Inq_file_offset(&offset);
    if (rank == 0) std::cout << "variable one starts at byte " << offset << "\n";
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "tuning.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
