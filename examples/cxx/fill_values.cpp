/* Fills elements that no process writes: in fill mode they get a fill value, which
 * readers interpret as "no data".
 *
 *     mpicxx -o fill_values fill_values.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./fill_values */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { LENGTH = 12 };

static void define(const NcmpiFile &file)
{
    const float none = -999;
    const NcmpiDim time = file.addDim("time"), x = file.addDim("x", LENGTH);
    const NcmpiVar by_default = file.addVar("default_fill", ncmpiInt, x);
    const NcmpiVar own = file.addVar("own_fill", ncmpiFloat, x);
    const NcmpiVar records =
        file.addVar("records", ncmpiFloat, std::vector<NcmpiDim>{time, x});

    /* Filling costs an additional write, so it is off by default. It can be enabled for
     * one variable, either with a given value, which becomes the variable's attribute
     * _FillValue ... */
    own.setFill(true, &none);
    records.setFill(true, &none);
    /* ... or with the default value of its type, which is NC_FILL_INT for int. */
    by_default.setFill(true);
}

/* Process r writes elements r, r + nprocs ... of the first half. The rest is not
 * written. */
static void write_half(const NcmpiVar &var, int rank, int nprocs)
{
    const MPI_Offset count = rank < LENGTH / 2 ? (LENGTH / 2 - rank - 1) / nprocs + 1 : 0;
    const MPI_Offset start =
        count > 0 ? rank : 0; /* the call is collective, even without values */
    std::vector<float> values;
    for (MPI_Offset i = 0; i < count; i++)
        values.push_back(static_cast<float>(start + i * nprocs));
    var.putVar_all({start}, {count}, {nprocs}, values.data());
}

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic);
    define(file);
    file.enddef(); /* fills the fixed-size variables */
    write_half(file.getVar("default_fill"), rank, nprocs);
    write_half(file.getVar("own_fill"), rank, nprocs);

    /* Each record must be filled explicitly, before any part of it is written. */
    const NcmpiVar records = file.getVar("records");
    for (MPI_Offset record = 0; record < 2; record++)
        records.fillRec(record);
    const float last = 1;
    records.putVar_all({1, LENGTH - 1}, {1, rank == 0}, &last);
    file.sync();

    /* A reader can query the fill value. */
    bool filled = false;
    float none = 0, values[2 * LENGTH];
    records.getFillModeParameters(filled, none);
    records.getVar_all(values);
    int missing = 0;
    for (float value : values)
        missing += value == none;
    std::cout << "process " << rank << ": " << missing << " of " << 2 * LENGTH
              << " elements have no data\n";
    expect(filled && missing == 2 * LENGTH - 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "fill_values.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
