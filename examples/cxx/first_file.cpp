/* A first program. All processes create a file together, and each writes its part of one
 * variable. Then they reopen the file, and each reads what its neighbour wrote.
 *
 *     mpicxx -o first_file first_file.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./first_file
 *     ncdump first_file.nc */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { LENGTH = 24 };

/* The part of the LENGTH elements that belongs to a process. All parts have nearly the
 * same size. */
struct part {
    std::vector<MPI_Offset> start, count;
    part(int rank, int nprocs)
        : start(1, LENGTH * rank / nprocs),
          count(1, LENGTH * (rank + 1) / nprocs - start[0])
    {
    }
};

static void write_file(const std::string &path, int rank, int nprocs)
{
    /* replace: an existing file is replaced. classic5: the format CDF-5, which has no
     * size limits. The file is closed when `file` goes out of scope. */
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic5);

    /* Definitions: all processes make the same calls. */
    const NcmpiDim dim = file.addDim("x", LENGTH);
    const NcmpiVar var = file.addVar("square", ncmpiInt, dim);
    var.putAtt("long_name", "square of x");

    /* Data: each process writes its own part. Functions whose names end in _all are
     * collective: all processes call them together. The first call leaves define mode. */
    const part mine(rank, nprocs);
    std::vector<int> values;
    for (MPI_Offset i = 0; i < mine.count[0]; i++)
        values.push_back(static_cast<int>((mine.start[0] + i) * (mine.start[0] + i)));
    var.putVar_all(mine.start, mine.count, values.data());
}

static void read_file(const std::string &path, int rank, int nprocs)
{
    const NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::read);
    const NcmpiVar var = file.getVar("square");
    const part other((rank + 1) % nprocs, nprocs);
    std::vector<int> values(LENGTH);
    var.getVar_all(other.start, other.count, values.data());

    for (MPI_Offset i = 0; i < other.count[0]; i++)
        expect(values[i] == (other.start[0] + i) * (other.start[0] + i));
    std::cout << "process " << rank << " read " << other.count[0] << " values\n";
}

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    write_file(path, rank, nprocs);
    read_file(path, rank, nprocs);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "first_file.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
