/* Handles errors, and continues after them.
 *
 *     mpicxx -o errors errors.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./errors */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

static int rank;

/* Checks that a call returned the error that this program provoked. Any other result is a
 * failure. */
template <class Call> static void expect(int code, const char *what, Call call)
{
    int found = NC_NOERR;
    try {
        call();
    } catch (const exceptions::NcmpiException &e) {
        found = e.errorCode();
        if (rank == 0) std::cout << what << " " << e.what() << "\n";
    }
    if (found != code) throw std::runtime_error(what);
}

/* A process with a local error must still make every collective call, or the others would
 * wait forever. So such a process continues, and all processes agree on the result
 * afterwards. */
template <class Call> static int worst_of_all(Call call)
{
    int status = NC_NOERR, worst;
    try {
        call();
    } catch (const exceptions::NcmpiException &e) {
        status = e.errorCode();
    }
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return worst;
}

static void run(const std::string &path)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    expect(NC_ENOENT, "opening what is not there:", [] {
        NcmpiFile(MPI_COMM_WORLD, "no such file", NcmpiFile::read);
    });

    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic);
    const NcmpiDim dim = file.addDim("x", 4);
    const NcmpiVar var = file.addVar("v", ncmpiShort, dim);
    expect(NC_ENAMEINUSE,
           "a name taken already:", [&] { file.addVar("v", ncmpiInt, dim); });

    /* 100000 is out of range for a short. The call stores the fill value in its place,
     * and still writes the other elements. Each code has its own exception class. */
    const int values[4] = {1, 2, 100000, 4};
    const MPI_Offset count = rank == 0 ? 4 : 0;
    try {
        var.putVar_all({0}, {count}, values);
    } catch (const exceptions::NcRange &e) {
        std::cout << "a value out of range: " << e.what() << "\n";
    }
    expect(NC_ENOTINDEP,
           "independent in collective mode:", [&] { var.putVar({0}, {count}, values); });

    /* One process reads beyond the end of the variable; the others succeed. */
    int read[4];
    const int worst =
        worst_of_all([&] { var.getVar_all({rank == 0 ? 3 : 0}, {2}, read); });
    if (worst != NC_EEDGE) throw std::runtime_error("over the end of a dimension");
    file.close();

    expect(NC_EBADGRPID, "closing twice:", [&] { file.close(); });
    expect(NC_EEXIST, "creating what is there:", [&] {
        NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::newFile);
    });
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "errors.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
