/* The first program: all processes create a file together, and each writes its part of
 * one variable. Then they open it again and read what their neighbour wrote.
 *
 *     mpicxx -o first_file first_file.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./first_file
 *     ncdump first_file.nc
 */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* What was read is not what was written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { LENGTH = 24 };

/* The part of LENGTH elements that a process takes; all parts are nearly equal. */
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
    /* replace: a file of that name is replaced. classic5: the format CDF-5, which has no
     * limits of size. The file is closed when `file` goes. */
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic5);

    /* Definitions: every process makes the same ones. */
    const NcmpiDim dim = file.addDim("x", LENGTH);
    const NcmpiVar var = file.addVar("square", ncmpiInt, dim);
    var.putAtt("long_name", "square of x");

    /* Data: every process has its own. A function whose name ends in _all is collective,
     * called by all processes together; the first one ends the definitions. */
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
        /* One process that stops would leave the others waiting, so all are stopped. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
