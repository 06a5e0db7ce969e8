/* Converts a list of variable names to a set of ids. */
#include "util_select.h"

#include "base_error.h"
#include "base_mem.h"
#include "util_message.h"
#include "util_name.h"

char *util_name_end(char *list)
{
    while (*list != ',' && *list != '\0')
        list += *list == '\\' && list[1] != '\0' ? 2 : 1;
    return list;
}

/* Finds a variable. The name as given takes precedence over the name with its escapes
 * removed. */
static int find_variable(const struct cdf_header *h, char *name, int *varid)
{
    if (cdf_find_var(h, name, varid) == NC_NOERR) return NC_NOERR;
    util_plain_name(name);
    return cdf_find_var(h, name, varid);
}

int util_select(const char *tool, const char *path, const struct cdf_header *h,
                const char *list, bool *wanted)
{
    char *copy = base_strdup(list);
    if (copy == NULL) {
        util_message(tool, NULL, -1, "%s", base_error_text(NC_ENOMEM));
        return -1;
    }
    int status = 0, varid;
    for (char *name = copy; name != NULL && status == 0;) {
        char *end = util_name_end(name);
        char *next = *end == ',' ? end + 1 : NULL;
        *end = '\0';
        if (find_variable(h, name, &varid) == NC_NOERR)
            wanted[varid] = true;
        else {
            util_message(tool, path, -1, "no variable is named '%s'", name);
            status = -1;
        }
        name = next;
    }
    base_free(copy);
    return status;
}
