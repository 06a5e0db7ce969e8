/* Writes, lists and changes attributes, which describe a variable or the whole file.
 *
 *     mpicxx -o metadata metadata.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./metadata */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Defines the variables and their attributes. Attributes are part of the definitions, so
 * all processes make the same calls. */
static void define(const NcmpiFile &file)
{
    const double range[2] = {-40.5, 60};
    const NcmpiDim dim = file.addDim("station", 4);
    const NcmpiVar temperature = file.addVar("temperature", ncmpiFloat, dim);
    const NcmpiVar dew_point = file.addVar("dew_point", ncmpiFloat, dim);

    file.putAtt("title", "What attributes are for");
    /* The type in the file and the type in memory may differ. */
    file.putAtt("version", ncmpiShort, 3);

    temperature.putAtt("units", "degC");
    temperature.putAtt("comment", "to be removed");
    temperature.putAtt("valid_range", ncmpiFloat, 2, range);
    std::string units;
    temperature.getAtt("units").getValues(units);
    dew_point.putAtt("units", units);
}

/* Changes attributes. For operations that the classes lack, call C functions with
 * getId(). */
static void change(NcmpiFile &file)
{
    const NcmpiVar var = file.getVar("temperature");
    file.enddef();
    file.putAtt("title", "Attributes"); /* enters define mode automatically */
    file.enddef();
    ncmpiCheckDefineMode(file.getId()); /* C functions do not enter define mode */
    ncmpiCheck(ncmpi_del_att(file.getId(), var.getId(), "comment"), __FILE__, __LINE__);
    ncmpiCheck(ncmpi_rename_att(file.getId(), var.getId(), "valid_range", "actual_range"),
               __FILE__, __LINE__);
    file.enddef();
}

/* Prints any attribute. Reads numbers as double, and text as text. */
static void list(const NcmpiAtt &att)
{
    if (att.getType() == ncmpiChar) {
        std::string text;
        att.getValues(text);
        std::cout << att.getName() << " = \"" << text << "\"\n";
    } else {
        std::vector<double> numbers(att.getAttLength());
        att.getValues(numbers.data());
        std::cout << att.getName() << " = " << numbers[0] << " ... (" << numbers.size()
                  << ")\n";
    }
}

static void run(const std::string &path)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic);
    define(file);
    change(file);
    if (rank != 0) return; /* the other processes wait for process 0 in close() */
    for (const auto &att : file.getAtts())
        list(att.second);
    for (const auto &att : file.getVar("temperature").getAtts())
        list(att.second);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "metadata.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
