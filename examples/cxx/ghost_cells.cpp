/* Writes an array without its ghost cells, a frame around it that contains copies of the
 * neighbours' elements and must not be written. An MPI datatype selects the elements in
 * memory.
 *
 *     mpicxx -o ghost_cells ghost_cells.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./ghost_cells */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { NY = 12, NX = 6, GHOST = 2, WIDE = NX + 2 * GHOST };

/* The datatype of the rows x NX elements inside the frame. */
class inner_type
{
  public:
    explicit inner_type(int rows)
    {
        const int whole[2] = {rows + 2 * GHOST, WIDE}, inner[2] = {rows, NX};
        const int first[2] = {GHOST, GHOST};
        MPI_Type_create_subarray(2, whole, inner, first, MPI_ORDER_C, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    ~inner_type()
    {
        MPI_Type_free(&type);
    }
    inner_type(const inner_type &) = delete;
    inner_type &operator=(const inner_type &) = delete;
    operator MPI_Datatype() const
    {
        return type;
    }

  private:
    MPI_Datatype type;
};

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    const MPI_Offset first = NY * rank / nprocs;
    const int rows = static_cast<int>(NY * (rank + 1) / nprocs - first);
    const std::vector<MPI_Offset> start = {first, 0}, count = {rows, NX};

    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic5);
    const std::vector<NcmpiDim> dims = {file.addDim("y", NY), file.addDim("x", NX)};
    const NcmpiVar var = file.addVar("cell", ncmpiShort, dims);

    /* start and count refer to the variable. The arguments after the values describe
     * memory. Values are converted, here from int to short. No datatype exists for 0
     * rows, so a process without rows passes 0 items. */
    std::vector<int> band((rows + 2 * GHOST) * WIDE, -1);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < NX; x++)
            band[(GHOST + y) * WIDE + GHOST + x] = 10 * (static_cast<int>(first) + y) + x;
    const inner_type type(rows > 0 ? rows : 1);
    var.putVar_all(start, count, band.data(), rows > 0, type);

    /* Reading does not change the frame either. */
    band.assign(band.size(), -2);
    var.getVar_all(start, count, band.data(), rows > 0, type);
    for (int y = 0; y < rows + 2 * GHOST; y++)
        for (int x = 0; x < WIDE; x++) {
            const bool frame =
                y < GHOST || y >= GHOST + rows || x < GHOST || x >= GHOST + NX;
            const int cell = 10 * (static_cast<int>(first) + y - GHOST) + x - GHOST;
            expect(band[y * WIDE + x] == (frame ? -2 : cell));
        }
    std::cout << "process " << rank << " wrote " << rows
              << " rows from the middle of its array\n";
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "ghost_cells.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
