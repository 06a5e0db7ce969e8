/* Makes nonblocking calls: posts many requests, each for a small piece of a variable, and
 * completes all of them with a single call, which accesses the file in a few large
 * pieces.
 *
 *     mpicxx -o nonblocking nonblocking.cpp $(pkg-config --cflags --libs pnetcdf)
 *     mpiexec -n 4 ./nonblocking */
#include <iostream>
#include <pnetcdf>
#include <stdexcept>

using namespace PnetCDF;

/* Throws an exception if the values read are not those written. */
static void expect(bool right)
{
    if (!right) throw std::runtime_error("other values were read");
}

enum { VARS = 5, LENGTH = 8 };

/* Completes all requests. Each has its own status. */
static void wait_for(NcmpiFile &file, std::vector<int> &requests)
{
    std::vector<int> statuses(requests.size());
    file.Wait_all(static_cast<int>(requests.size()), requests.data(), statuses.data());
    for (int status : statuses)
        ncmpiCheck(status, __FILE__, __LINE__);
}

static std::vector<NcmpiVar> define(const NcmpiFile &file)
{
    std::vector<NcmpiVar> vars;
    const NcmpiDim dim = file.addDim("x", LENGTH);
    for (int v = 0; v < VARS; v++)
        vars.push_back(file.addVar("tracer_" + std::to_string(v), ncmpiFloat, dim));
    return vars;
}

static void run(const std::string &path)
{
    int rank, nprocs;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    const std::vector<MPI_Offset> start(1, LENGTH * rank / nprocs);
    const std::vector<MPI_Offset> count(1, LENGTH * (rank + 1) / nprocs - start[0]);

    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic);
    const std::vector<NcmpiVar> vars = define(file);
    std::vector<int> requests(VARS);
    float values[VARS][LENGTH], one[LENGTH];

    /* iputVar: the program must not change the values before the wait. */
    for (int v = 0; v < VARS; v++) {
        for (MPI_Offset i = 0; i < count[0]; i++)
            values[v][i] = static_cast<float>(100 * v + start[0] + i);
        vars[v].iputVar(start, count, values[v], &requests[v]);
    }
    wait_for(file, requests);

    /* bputVar: copies the values to a buffer, which must be attached beforehand and large
     * enough, so the array can be reused immediately. These values overwrite those of the
     * last variable. */
    file.Buffer_attach(sizeof one);
    std::vector<int> request(1);
    for (MPI_Offset i = 0; i < count[0]; i++)
        one[i] = static_cast<float>(-(start[0] + i));
    vars[VARS - 1].bputVar(start, count, one, &request[0]);
    for (MPI_Offset i = 0; i < count[0]; i++)
        one[i] = 0;
    wait_for(file, request);
    file.Buffer_detach();

    /* igetVar: the values are available after the wait. */
    for (int v = 0; v < VARS; v++)
        vars[v].igetVar(start, count, values[v], &requests[v]);
    wait_for(file, requests);
    for (int v = 0; v < VARS; v++)
        for (MPI_Offset i = 0; i < count[0]; i++)
            expect(values[v][i] == static_cast<float>(v < VARS - 1
                                                          ? 100 * v + start[0] + i
                                                          : -(start[0] + i)));
    std::cout << "process " << rank << ": " << VARS << " variables, " << count[0]
              << " elements of each\n";
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run(argc > 1 ? argv[1] : "nonblocking.nc");
    } catch (const std::exception &e) {
        /* If only this process exited, the others would wait forever, so abort all of
         * them. */
        std::cerr << e.what() << std::endl;
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
