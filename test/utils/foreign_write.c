/* foreign_write LAYOUT NAME SUBFILES [WRONG]: writes a dataset in the subfile layout of
 * another library. test/blob/foreign_make.h describes the arguments. */
#include <mpi.h>
#include <stdlib.h>

#include "../blob/foreign_make.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int bad = argc < 4 ||
              foreign_make(argv[1], argv[2], atoi(argv[3]), argc > 4 ? argv[4] : "") != 0;
    MPI_Finalize();
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
