/* nc4_alter FILE COMMAND OLD NEW...: changes a netCDF-4 file through HDF5, so that it has
 * names that netCDF-C would not create. The commands are `move` and `link`, which give an
 * object a new name or a further one; any other command is the name of a variable, or
 * "/", and renames its attribute. The functions are those of the HDF5 that netCDF-C
 * loads. */
#include <stdint.h>
#include <string.h>

#include "nc4_library.h"
#include "pnetcdf_constants.h"

typedef int64_t open_file(const char *path, unsigned mode, int64_t list);
typedef int close_file(int64_t file);
typedef int change_link(int64_t from, const char *old, int64_t to, const char *name,
                        int64_t create, int64_t access);
typedef int rename_attribute(int64_t file, const char *object, const char *old,
                             const char *name, int64_t access);

int main(int argc, char **argv)
{
    enum { WRITE = 1 };
    if (argc < 2 || nc4_load(false) != NC_NOERR) return 2;
    int64_t file = ((open_file *)nc4_find("H5Fopen"))(argv[1], WRITE, 0);
    int bad = file < 0;
    for (char **a = argv + 2; !bad && a + 2 < argv + argc; a += 3) {
        bool move = strcmp(a[0], "move") == 0;
        nc4_any_function f = nc4_find(move ? "H5Lmove" : "H5Lcreate_hard");
        if (move || strcmp(a[0], "link") == 0)
            bad = ((change_link *)f)(file, a[1], file, a[2], 0, 0) < 0;
        else
            bad = ((rename_attribute *)nc4_find("H5Arename_by_name"))(file, a[0], a[1],
                                                                      a[2], 0) < 0;
    }
    return ((close_file *)nc4_find("H5Fclose"))(file) < 0 || bad;
}
