/* A grid of two dimensions is cut into blocks, one for every process; each writes its
 * block with one call.
 *
 *     mpicxx -o blocks blocks.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./blocks
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

enum { NY = 12, NX = 10 };

/* Where a process's block starts in the grid, and its numbers of rows and columns. */
struct block {
    std::vector<MPI_Offset> start, count;

    block(int rank, int nprocs)
    {
        /* As many rows and columns of blocks as MPI thinks best: 4 processes are 2 x 2.
         */
        int shape[2] = {0, 0};
        MPI_Dims_create(nprocs, 2, shape);
        const int place[2] = {rank / shape[1], rank % shape[1]};
        const MPI_Offset size[2] = {NY, NX};
        for (int d = 0; d < 2; d++) {
            start.push_back(size[d] * place[d] / shape[d]);
            count.push_back(size[d] * (place[d] + 1) / shape[d] - start[d]);
        }
    }
    MPI_Offset elements() const
    {
        return count[0] * count[1];
    }
    /* What the grid has at element i of the block. */
    double value(MPI_Offset i) const
    {
        const MPI_Offset y = start[0] + i / count[1], x = start[1] + i % count[1];
        return static_cast<double>(y) + 0.01 * static_cast<double>(x);
    }
};

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic2);
    const std::vector<NcmpiDim> dims = {file.addDim("y", NY), file.addDim("x", NX)};
    const NcmpiVar var = file.addVar("field", ncmpiDouble, dims);

    const block mine(rank, nprocs);
    std::vector<double> values;
    for (MPI_Offset i = 0; i < mine.elements(); i++)
        values.push_back(mine.value(i));
    var.putVar_all(mine.start, mine.count, values.data());

    /* What others wrote can be read from the same open file after a sync. How a file is
     * cut for reading need not be how it was cut for writing. */
    file.sync();
    const block other(nprocs - 1 - rank, nprocs);
    values.resize(other.elements());
    var.getVar_all(other.start, other.count, values.data());
    for (MPI_Offset i = 0; i < other.elements(); i++)
        expect(values[i] == other.value(i));

    file.close(); /* unlike the end of the scope, it tells errors */
    std::cout << "process " << rank << " wrote " << mine.count[0] << " x "
              << mine.count[1] << " elements from (" << mine.start[0] << ", "
              << mine.start[1] << ")\n";
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "blocks.nc");
    } catch (const std::exception &e) {
        /* One process that stops would leave the others waiting, so all are stopped. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
