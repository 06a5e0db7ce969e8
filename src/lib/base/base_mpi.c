/* Converts MPI errors to NC_ codes with a table, and calls functions when MPI ends. */
#include "base_mpi.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"

static const struct {
    int class, code;
} classes[] = {
    {MPI_ERR_FILE_EXISTS, NC_EEXIST}, {MPI_ERR_NO_SUCH_FILE, NC_ENOENT},
    {MPI_ERR_AMODE, NC_EINVAL_OMODE}, {MPI_ERR_ACCESS, NC_EACCESS},
    {MPI_ERR_READ_ONLY, NC_EPERM},    {MPI_ERR_NO_SPACE, NC_ENO_SPACE},
    {MPI_ERR_QUOTA, NC_EQUOTA},       {MPI_ERR_BAD_FILE, NC_EBAD_FILE},
    {MPI_ERR_NO_MEM, NC_ENOMEM},
};

/* Returns MPI's text for an error code or class, without trailing blanks. */
static void text_of_error(int mpi_result, char *text)
{
    int length = 0;
    if (MPI_Error_string(mpi_result, text, &length) != MPI_SUCCESS) length = 0;
    while (length > 0 && strchr(" \n", text[length - 1]) != NULL)
        length--;
    text[length] = '\0';
}

/* Returns the part of an error's text that the text of its class does not contain. MPICH
 * appends the system's message to the last line ("Other I/O error Transport endpoint is
 * not connected"). If a collective call failed on another process, only that process
 * knows the message, and the result is "". */
static const char *error_detail(const char *text, const char *of_class)
{
    const char *line = strrchr(text, '\n'), *at;
    at = strstr(line == NULL ? text : line, of_class);
    if (at == NULL || of_class[0] == '\0') return "";
    at += strlen(of_class);
    return *at == ' ' ? at + 1 : "";
}

int base_mpi_error(int mpi_result, int otherwise, const char *what)
{
    if (mpi_result == MPI_SUCCESS) return NC_NOERR;

    char text[MPI_MAX_ERROR_STRING] = "", all[MPI_MAX_ERROR_STRING] = "";
    int class, code = otherwise;
    if (MPI_Error_class(mpi_result, &class) == MPI_SUCCESS) {
        text_of_error(class, text);
        text_of_error(mpi_result, all);
        for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
            if (classes[i].class == class) code = classes[i].code;
    }
    const char *more = error_detail(all, text);
    return base_error_set(code, "%s: %s%s%.400s", what, text, *more == '\0' ? "" : ": ",
                          more);
}

long long base_mpi_number(MPI_Info info, const char *key)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    if (info == MPI_INFO_NULL ||
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &there) != MPI_SUCCESS || !there)
        return 0;
    return strtoll(text, NULL, 10);
}

int base_mpi_runs(int n, const int *lengths, const MPI_Aint *displs, MPI_Datatype *type)
{
    MPI_Datatype made;
    int mpi = MPI_Type_create_hindexed(n, lengths, displs, MPI_BYTE, &made);
    if (mpi != MPI_SUCCESS) return mpi;
    mpi = MPI_Type_commit(&made);
    if (mpi == MPI_SUCCESS)
        *type = made;
    else
        (void)MPI_Type_free(&made);
    return mpi;
}

int64_t base_mpi_host(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    uint64_t hash = UINT64_C(14695981039346656037);
    if (MPI_Get_processor_name(name, &length) != MPI_SUCCESS) return 0;
    for (int i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
    return (int64_t)(hash >> 1);
}

/* ---- when MPI ends ---- */

static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;
static struct {
    void (*end)(void *of);
    void *of;
} ends[BASE_ENDS];
static bool watching;

static int end_with_mpi(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    for (int i = 0; i < BASE_ENDS; i++)
        if (ends[i].end != NULL) ends[i].end(ends[i].of);
    return MPI_SUCCESS;
}

/* Attaches an attribute to MPI_COMM_SELF, which MPI_Finalize frees first, while MPI can
 * still be used. There is only one attribute for all functions, because processes might
 * delete several attributes in different orders. The caller holds the lock. */
static bool watch_end(void)
{
    int key;
    if (watching) return true;
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_mpi, &key, NULL) !=
        MPI_SUCCESS)
        return false;
    watching = MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS;
    (void)MPI_Comm_free_keyval(&key); /* the key is freed with the attribute */
    return watching;
}

bool base_mpi_at_end(enum base_end which, void (*end)(void *of), void *of)
{
    pthread_mutex_lock(&ending);
    bool may = watch_end();
    if (may) ends[which].end = end;
    if (may) ends[which].of = of;
    pthread_mutex_unlock(&ending);
    return may;
}
