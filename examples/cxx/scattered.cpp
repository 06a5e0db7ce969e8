/* Writes elements that are scattered over a variable. A single putVarn call writes all
 * of these pieces.
 *
 *     mpicxx -o scattered scattered.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./scattered */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { NY = 6, NX = 12, WIDTH = 3, PIECES = NY * NX / WIDTH };

/* The pieces of one process. A piece has WIDTH elements of a row. Pieces are assigned to
 * the processes round-robin. */
struct pieces {
    std::vector<std::vector<MPI_Offset>> start, count;
    std::vector<MPI_Offset *> starts, counts; /* varn needs a pointer for each piece */

    pieces(int rank, int nprocs)
    {
        for (MPI_Offset piece = rank; piece < PIECES; piece += nprocs) {
            start.push_back({piece * WIDTH / NX, piece * WIDTH % NX});
            count.push_back({1, WIDTH});
        }
        for (size_t i = 0; i < start.size(); i++) {
            starts.push_back(start[i].data());
            counts.push_back(count[i].data());
        }
    }
    int size() const
    {
        return static_cast<int>(start.size());
    }
};

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic5);
    const std::vector<NcmpiDim> dims = {file.addDim("y", NY), file.addDim("x", NX)};
    const NcmpiVar var = file.addVar("cards", ncmpiInt, dims);

    /* One array contains the values of all pieces, one after another. Processes may have
     * different numbers of pieces, or none. */
    pieces mine(rank, nprocs);
    std::vector<int> values;
    for (const std::vector<MPI_Offset> &at : mine.start)
        for (int k = 0; k < WIDTH; k++)
            values.push_back(static_cast<int>(at[0] * NX + at[1]) + k);
    var.putVarn_all(mine.size(), mine.starts.data(), mine.counts.data(), values.data());
    file.sync();

    /* To write single elements, pass NULL for the counts. */
    MPI_Offset corner[4][2] = {{0, 0}, {0, NX - 1}, {NY - 1, 0}, {NY - 1, NX - 1}};
    MPI_Offset *places[4] = {corner[0], corner[1], corner[2], corner[3]};
    int corners[4];
    var.getVarn_all(4, places, NULL, corners);
    for (int i = 0; i < 4; i++)
        expect(corners[i] == corner[i][0] * NX + corner[i][1]);
    std::cout << "process " << rank << " wrote " << mine.size() << " pieces\n";
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "scattered.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
