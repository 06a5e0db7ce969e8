/* Records violated invariants (base_require.h). */
#include "base_require.h"

/* For the static analyzer, macros of the same names replace these functions. */
#undef base_violated
#undef base_refuse_after_violation

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"

_Atomic int64_t base_violation_count;
static _Atomic(const char *) first_condition, first_file;
static atomic_int first_line;

/* Removes the directory from the name of a source file. */
static const char *file_name_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash == NULL ? file : slash + 1;
}

int base_violated(const char *condition, const char *file, int line)
{
    const char *none = NULL;
    if (atomic_compare_exchange_strong(&first_condition, &none, condition)) {
        first_line = line;
        first_file = file;
    }
    atomic_fetch_add(&base_violation_count, 1);
    return base_error_set(NC_EINTERNAL, "%s:%d: the invariant '%s' does not hold",
                          file_name_of(file), line, condition);
}

int base_refuse_after_violation(void)
{
    const char *file = first_file;
    return base_error_set(
        NC_EINTERNAL,
        "nothing was written, because an earlier call of this process found a violated "
        "invariant (%s:%d: '%s'); close the dataset and open it again",
        file == NULL ? "unknown" : file_name_of(file), first_line,
        first_condition == NULL ? "" : first_condition);
}
