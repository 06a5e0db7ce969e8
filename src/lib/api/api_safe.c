/* Safe mode. Each process hashes its arguments, and one reduction determines whether all
 * hashes are equal. Only if they differ are the arguments compared individually. */
#include "api_safe.h"

#include <stdio.h>
#include <string.h>

#include "base_mpi.h"

void api_args_start(struct api_args *a, const char *function)
{
    memset(a, 0, sizeof *a); /* also clears the padding, because the list is compared and
                              * sent as bytes */
    snprintf(a->function, sizeof a->function, "%s", function);
    a->hash = base_hash(function, strlen(function), 0);
}

static void add_argument(struct api_args *a, const char *name, int code, const char *text,
                         uint64_t hash)
{
    struct api_arg *arg = &a->list[a->n++];
    snprintf(arg->name, sizeof arg->name, "%s", name);
    snprintf(arg->text, sizeof arg->text, "%s", text);
    arg->code = code;
    arg->hash = hash;
    a->hash = base_hash(&hash, sizeof hash, a->hash);
}

void api_arg_number(struct api_args *a, const char *name, int code, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    add_argument(a, name, code, text, base_hash(&value, sizeof value, 1));
}

void api_arg_text(struct api_args *a, const char *name, int code, const char *value)
{
    char text[API_ARG_TEXT];
    if (value == NULL) value = "";
    snprintf(text, sizeof text, "'%s'", value);
    add_argument(a, name, code, text, base_hash(value, strlen(value), 2));
}

void api_arg_bytes(struct api_args *a, const char *name, int code, const void *bytes,
                   int64_t size)
{
    char text[API_ARG_TEXT];
    uint64_t hash = bytes == NULL ? 0 : base_hash(bytes, (size_t)size, 3);
    snprintf(text, sizeof text, "%lld bytes with hash %016llx", (long long)size,
             (unsigned long long)hash);
    add_argument(a, name, code, text, hash);
}

/* Returns the quoted name of the object that the call refers to, or NULL if the call has
 * no such argument. */
static const char *object_of(const struct api_args *a)
{
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->list[i].name, "name") == 0) return a->list[i].text;
    return NULL;
}

/* Returns the error code of the first argument that differs from process 0's, and
 * describes the difference in `text`. */
static int compare(const struct api_args *mine, const struct api_args *theirs, char *text,
                   size_t size)
{
    if (strcmp(mine->function, theirs->function) != 0) {
        snprintf(text, size, "calls %s, but process 0 calls %s", mine->function,
                 theirs->function);
        return NC_EMULTIDEFINE_FNC_ARGS;
    }
    for (int i = 0; i < mine->n && i < theirs->n; i++) {
        const struct api_arg *a = &mine->list[i], *b = &theirs->list[i];
        if (a->hash == b->hash) continue;
        const char *object = object_of(mine);
        snprintf(text, size, "%s%s%s: %s is %s, but %s on process 0", mine->function,
                 object == NULL ? "" : " ", object == NULL ? "" : object, a->name,
                 a->text, b->text);
        return a->code;
    }
    return NC_NOERR;
}

int api_share_report_all(struct dataset *ds, int code, char *text, int size,
                         int64_t *values, int n)
{
    int64_t all[DATASET_AGREE_MAX] = {code == NC_NOERR ? 0 : ds->nprocs - ds->rank};
    for (int i = 0; i < n; i++)
        all[1 + i] = values[i];
    int err = dataset_agree_all(ds, NC_NOERR, NULL, all, 1 + n);
    for (int i = 0; i < n; i++)
        values[i] = all[1 + i];
    if (err != NC_NOERR || all[0] == 0) return err;
    int rank = ds->nprocs - (int)all[0];
    err = dataset_share_all(ds, &code, sizeof code, rank);
    if (err == NC_NOERR) err = dataset_share_all(ds, text, size, rank);
    if (err != NC_NOERR) return err;
    return base_error_set(code, "process %d%s%s", rank, *text == '\0' ? "" : ": ", text);
}

int api_args_agree_all(struct dataset *ds, struct api_args *a)
{
    /* All hashes are equal if their maximum equals their minimum. One MAX reduction of
     * the hash and its negative computes both. */
    int64_t half = (int64_t)(a->hash >> 1), all[2] = {half, -half};
    int err = dataset_agree_all(ds, NC_NOERR, NULL, all, 2);
    if (err != NC_NOERR || all[0] == -all[1]) return err;

    struct api_args theirs = *a;
    char text[3 * API_ARG_TEXT + 128] = "";
    err = dataset_share_all(ds, &theirs, sizeof theirs, 0);
    if (err != NC_NOERR) return err;
    int code = compare(a, &theirs, text, sizeof text);
    return api_share_report_all(ds, code, text, sizeof text, NULL, 0);
}

int api_agree_if_safe_all(struct api_dataset *d, int err)
{
    return d->ds.safe_mode ? dataset_agree_all(&d->ds, err, NULL, NULL, 0) : err;
}

int api_agree_call_all(struct api_dataset *d, const char *function)
{
    struct api_args a;
    api_args_start(&a, function);
    return api_args_agree_all(&d->ds, &a);
}
