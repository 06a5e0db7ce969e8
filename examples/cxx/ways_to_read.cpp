/* Reads a file in three ways: on one process, collectively, and independently.
 *
 *     mpicxx -o ways_to_read ways_to_read.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./ways_to_read */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { LENGTH = 20 };

static int rank, nprocs;

static MPI_Offset first_of(int process)
{
    return LENGTH * process / nprocs;
}

static void create(const std::string &path)
{
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic);
    const NcmpiVar var = file.addVar("v", ncmpiDouble, file.addDim("x", LENGTH));
    std::vector<double> values;
    for (MPI_Offset i = first_of(rank); i < first_of(rank + 1); i++)
        values.push_back(0.5 * static_cast<double>(i));
    var.putVar_all({first_of(rank)}, {first_of(rank + 1) - first_of(rank)},
                   values.data());
}

static double sum(const std::vector<double> &values)
{
    double total = 0;
    for (double value : values)
        total += value;
    return total;
}

/* On a communicator with one process, no call waits for other processes. */
static double read_alone(const std::string &path)
{
    std::vector<double> values(LENGTH);
    const NcmpiFile file(MPI_COMM_SELF, path, NcmpiFile::read);
    file.getVar("v").getVar_all(values.data()); /* the whole variable */
    return sum(values);
}

/* All processes read their parts in one call, which is the fastest way for large
 * files. */
static double read_together(const NcmpiVar &var)
{
    std::vector<double> values(first_of(rank + 1) - first_of(rank));
    var.getVar_all({first_of(rank)}, {first_of(rank + 1) - first_of(rank)},
                   values.data());
    double mine = sum(values), total;
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total;
}

/* Reads in independent mode, in which each process may read any data at any time. Only
 * switching the mode is collective. */
static double read_at_will(NcmpiFile &file, const NcmpiVar &var)
{
    double total = 0;
    file.begin_indep_data();
    for (MPI_Offset i = 0; i < LENGTH && rank == nprocs - 1; i++) {
        double value;
        var.getVar({i}, &value);
        total += value;
    }
    file.end_indep_data();
    MPI_Bcast(&total, 1, MPI_DOUBLE, nprocs - 1, MPI_COMM_WORLD);
    return total;
}

static void run(const std::string &path)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    create(path);
    double alone = rank == 0 ? read_alone(path) : 0;
    MPI_Bcast(&alone, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);

    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::read);
    const NcmpiVar var = file.getVar("v");
    const double together = read_together(var), at_will = read_at_will(file, var);
    if (rank == 0)
        std::cout << "sums: " << alone << ", " << together << ", " << at_will << "\n";
    expect(together == alone && at_will == alone);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "ways_to_read.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
