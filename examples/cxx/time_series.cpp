/* Appends data over time: writes a record at each step, and a later run continues where
 * the previous one ended.
 *
 *     mpicxx -o time_series time_series.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./time_series */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { LENGTH = 10, STEPS = 3 };

static float temperature(MPI_Offset step, MPI_Offset x)
{
    return 280.0F + static_cast<float>(step) + 0.1F * static_cast<float>(x);
}

static NcmpiFile create(const std::string &path)
{
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic2);
    /* The unlimited dimension comes first. Variables that use it are stored record by
     * record. */
    const NcmpiDim time = file.addDim("time"), x = file.addDim("x", LENGTH);
    file.addVar("time", ncmpiDouble, time)
        .putAtt("units", "hours since 2000-01-01 00:00");
    file.addVar("temperature", ncmpiFloat, std::vector<NcmpiDim>{time, x})
        .putAtt("units", "K");
    return file;
}

/* Writes STEPS records after the existing ones. */
static void append(const NcmpiFile &file, int rank, int nprocs)
{
    const MPI_Offset records = file.getDim("time").getSize();
    const MPI_Offset first = LENGTH * rank / nprocs;
    const MPI_Offset n = LENGTH * (rank + 1) / nprocs - first;
    const NcmpiVar time = file.getVar("time"), var = file.getVar("temperature");
    for (MPI_Offset step = records; step < records + STEPS; step++) {
        /* Process 0 writes the time; the others put no elements. */
        const double hours = 6.0 * static_cast<double>(step);
        time.putVar_all({step}, {rank == 0}, &hours);

        std::vector<float> values;
        for (MPI_Offset i = 0; i < n; i++)
            values.push_back(temperature(step, first + i));
        var.putVar_all({step, first}, {1, n}, values.data());
    }
}

/* Reads all steps at one location. */
static void read_series(const NcmpiFile &file, int rank)
{
    const MPI_Offset x = rank % LENGTH;
    float values[2 * STEPS];
    file.getVar("temperature").getVar_all({0, x}, {2 * STEPS, 1}, values);
    for (int step = 0; step < 2 * STEPS; step++)
        expect(values[step] == temperature(step, x));
    std::cout << "process " << rank << ": from " << values[0] << " to "
              << values[2 * STEPS - 1] << " at x = " << x << "\n";
}

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    NcmpiFile file = create(path);
    append(file, rank, nprocs);
    file.close();

    file = NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::write);
    append(file, rank, nprocs);
    file.sync();
    read_series(file, rank);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "time_series.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
