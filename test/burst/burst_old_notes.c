/* burst_old_notes DIRECTORY: makes the logs in a directory look older; see
 * old_notes.h. */
#include "old_notes.h"

int main(int argc, char **argv)
{
    return argc == 2 && old_notes(argv[1]) > 0 ? 0 : 1;
}
