/* Writes columns of a table, first with strides, then from an array whose order in memory
 * differs from the order in the file.
 *
 *     mpicxx -o columns columns.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./columns */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { ROWS = 6, COLUMNS = 10 };

static int element(MPI_Offset row, MPI_Offset column)
{
    return static_cast<int>(100 * row + column);
}

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic5);
    const std::vector<NcmpiDim> dims = {file.addDim("row", ROWS),
                                        file.addDim("column", COLUMNS)};
    const NcmpiVar by_turns = file.addVar("by_turns", ncmpiInt, dims);
    const NcmpiVar in_blocks = file.addVar("in_blocks", ncmpiInt, dims);
    std::vector<int> values(ROWS * COLUMNS);

    /* A stride: every nprocs-th column, starting with column `rank`. The order in memory
     * is that of the file, row by row. */
    MPI_Offset n = rank < COLUMNS ? (COLUMNS - rank - 1) / nprocs + 1 : 0;
    for (MPI_Offset row = 0; row < ROWS; row++)
        for (MPI_Offset i = 0; i < n; i++)
            values[row * n + i] = element(row, rank + i * nprocs);
    by_turns.putVar_all({0, n > 0 ? rank : 0}, {ROWS, n}, {1, nprocs}, values.data());

    /* A map: a block of columns, stored in memory column by column as in Fortran. For
     * each dimension, the map contains the distance between neighbouring elements in
     * memory. The empty list means that all strides are 1. */
    const MPI_Offset first = COLUMNS * rank / nprocs;
    n = COLUMNS * (rank + 1) / nprocs - first;
    for (MPI_Offset i = 0; i < n; i++)
        for (MPI_Offset row = 0; row < ROWS; row++)
            values[i * ROWS + row] = element(row, first + i);
    in_blocks.putVar_all({0, first}, {ROWS, n}, {}, {1, ROWS}, values.data());
    file.sync();

    /* All processes read one whole column. */
    for (const NcmpiVar &var : {by_turns, in_blocks}) {
        var.getVar_all({0, COLUMNS - 1}, {ROWS, 1}, values.data());
        for (int row = 0; row < ROWS; row++)
            expect(values[row] == element(row, COLUMNS - 1));
    }
    std::cout << "process " << rank << " wrote " << n << " columns in a block\n";
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "columns.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
