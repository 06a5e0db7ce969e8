/* Divides a two-dimensional grid into blocks, one for each process. Each process writes
 * its block with one call.
 *
 *     mpicxx -o blocks blocks.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./blocks */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { NY = 12, NX = 10 };

/* The block of one process: its first row and column, and its numbers of rows and
 * columns. */
struct block {
    std::vector<MPI_Offset> start, count;

    block(int rank, int nprocs)
    {
        /* MPI chooses how to arrange the processes in rows and columns: 4 processes form
         * 2 x 2. */
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
    /* Returns the value of the grid at element i of the block. */
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

    /* After a sync, each process can read what the others wrote through the same open
     * file. The processes may divide the grid differently for reading and for writing. */
    file.sync();
    const block other(nprocs - 1 - rank, nprocs);
    values.resize(other.elements());
    var.getVar_all(other.start, other.count, values.data());
    for (MPI_Offset i = 0; i < other.elements(); i++)
        expect(values[i] == other.value(i));

    file.close(); /* reports errors, unlike the destructor */
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
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
