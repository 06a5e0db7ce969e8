/* Attributes. Short lists are searched linearly, and long ones have a name table. The
 * memory of deleted and replaced attributes is reused. */
#include "cdf_impl.h"

#include <limits.h>

#include "base_error.h"

enum {
    SHORT_LIST = 16, /* maximum length of a list without a table */
    SPARES = 16      /* number of deleted attributes searched for reusable memory */
};

static const char *att_text(const void *list, int index)
{
    return ((const struct cdf_att *)list)[index].name;
}

int cdf_atts_reserve(struct cdf_header *h, struct cdf_atts *atts, int more)
{
    if (atts->list != NULL && more <= atts->capacity - atts->count) return NC_NOERR;
    if (more > INT_MAX - atts->count) return NC_ENOMEM;
    int64_t wanted = atts->count + more;
    if (wanted < 2 * (int64_t)atts->capacity) wanted = 2 * (int64_t)atts->capacity;
    if (wanted > INT_MAX) wanted = INT_MAX;

    struct cdf_att *list = base_arena_alloc(&h->arena, (size_t)wanted * sizeof *list);
    if (list == NULL) return NC_ENOMEM;
    size_t old = (size_t)atts->capacity;
    if (atts->list != NULL) memcpy(list, atts->list, old * sizeof *list);
    memset(list + old, 0, ((size_t)wanted - old) * sizeof *list);
    atts->list = list;
    atts->capacity = (int)wanted;
    return NC_NOERR;
}

void cdf_atts_index(struct cdf_header *h, struct cdf_atts *atts)
{
    if (atts->count <= SHORT_LIST || atts->names.capacity > 0) return;
    int entered =
        base_names_add_range(&atts->names, 0, atts->count, att_text, atts->list);
    if (entered >= 0 && entered < atts->count) h->has_duplicate_names = true;
}

/* Rebuilds the table. If two attributes have the same name, a look-up can then find the
 * second after the first has been deleted or renamed. */
static void rebuild_index(struct cdf_header *h, struct cdf_atts *atts)
{
    base_names_free(&atts->names);
    cdf_atts_index(h, atts);
}

/* Returns the index of the attribute with exactly this name, or -1. */
static int find_exact(const struct cdf_atts *atts, const char *name)
{
    if (atts->names.capacity > 0)
        return base_names_find(&atts->names, name, att_text, atts->list);
    for (int i = 0; i < atts->count; i++)
        if (strcmp(atts->list[i].name, name) == 0) return i;
    return -1;
}

/* Finds the attribute by any Unicode form of its name. Returns its index, or -1. */
static int find_any_form(const struct cdf_atts *atts, const char *name)
{
    char norm[NC_MAX_NAME + 1];
    if (name == NULL || atts->count == 0) return -1;
    int i = find_exact(atts, name);
    if (i >= 0 || cdf_check_name(name, norm) != NC_NOERR) return i;
    return strcmp(name, norm) == 0 ? -1 : find_exact(atts, norm);
}

struct cdf_atts *cdf_atts(struct cdf_header *h, int varid)
{
    if (varid == NC_GLOBAL) return &h->gatts;
    if (varid < 0 || varid >= h->nvars) return NULL;
    return &h->vars[varid].atts;
}

int cdf_find_att(const struct cdf_header *h, int varid, const char *name, int *attid)
{
    if (varid != NC_GLOBAL && (varid < 0 || varid >= h->nvars)) return NC_ENOTVAR;
    int i = find_any_form(varid == NC_GLOBAL ? &h->gatts : &h->vars[varid].atts, name);
    if (i < 0) return NC_ENOTATT;
    *attid = i;
    return NC_NOERR;
}

/* Grows the memory of an attribute's values to at least `bytes`, and at least doubles it.
 * Repeated overwriting thus takes at most twice the largest size. */
static int reserve_values(struct cdf_header *h, struct cdf_att *a, size_t bytes)
{
    if (a->capacity >= bytes && a->values != NULL) return NC_NOERR;
    size_t wanted = a->capacity > bytes / 2 ? 2 * a->capacity : bytes;
    void *values = base_arena_alloc_packed(&h->arena, wanted, 1);
    if (values == NULL) return NC_ENOMEM;
    a->values = values;
    a->capacity = wanted;
    return NC_NOERR;
}

/* Returns the next free entry, after swapping the unused entry whose memory fits best
 * into this position. */
static struct cdf_att *next_entry(struct cdf_atts *atts, size_t bytes)
{
    struct cdf_att *next = &atts->list[atts->count];
    struct cdf_att *best = next;
    for (int i = 1; i < SPARES && i < atts->capacity - atts->count; i++) {
        if (next[i].name == NULL) break; /* the rest was never used */
        bool fits = next[i].capacity >= bytes;
        if (fits != (best->capacity >= bytes) ? fits : next[i].capacity < best->capacity)
            best = &next[i];
    }
    struct cdf_att spare = *best;
    *best = *next;
    *next = spare;
    return next;
}

static int add_attribute(struct cdf_header *h, struct cdf_atts *atts, const char *norm,
                         size_t bytes, struct cdf_att **a)
{
    int err = cdf_atts_reserve(h, atts, 1);
    if (err != NC_NOERR) return err;
    struct cdf_att *entry = next_entry(atts, bytes);
    const char *name = cdf_name_store(&h->arena, entry->name, norm, strlen(norm));
    if (name == NULL) return NC_ENOMEM;
    entry->name = name;
    err = reserve_values(h, entry, bytes);
    if (err != NC_NOERR) return err;
    if (atts->names.capacity > 0 && base_names_add(&atts->names, name, atts->count) != 0)
        return NC_ENOMEM;
    atts->count++;
    cdf_atts_index(h, atts);
    *a = entry;
    return NC_NOERR;
}

int64_t cdf_max_values(int format)
{
    return format == 5 ? PTRDIFF_MAX / 8 - 16 : INT32_MAX;
}

int cdf_put_att(struct cdf_header *h, int varid, const char *name, int type,
                int64_t nelems, void **values)
{
    char norm[NC_MAX_NAME + 1];
    struct cdf_atts *atts = cdf_atts(h, varid);
    if (atts == NULL) return NC_ENOTVAR;
    int err = cdf_check_name(name, norm);
    if (err == NC_NOERR) err = cdf_check_type(h->format, type);
    if (err != NC_NOERR) return err;
    if (nelems < 0 || nelems > cdf_max_values(h->format))
        return base_error_set(NC_EINVAL, "attribute '%.80s' cannot have %lld elements",
                              norm, (long long)nelems);

    size_t bytes = (size_t)nelems * (size_t)cdf_type_size(type);
    int i = find_exact(atts, norm);
    struct cdf_att *a = i >= 0 ? &atts->list[i] : NULL;
    err =
        a != NULL ? reserve_values(h, a, bytes) : add_attribute(h, atts, norm, bytes, &a);
    if (err != NC_NOERR) return err;
    a->type = type;
    a->nelems = nelems;
    *values = a->values;
    return NC_NOERR;
}

bool cdf_same_values(const struct cdf_att *a, const struct cdf_att *b)
{
    if (a->type != b->type || a->nelems != b->nelems) return false;
    size_t bytes = (size_t)a->nelems * (size_t)cdf_type_size(a->type);
    return bytes == 0 || memcmp(a->values, b->values, bytes) == 0;
}

static int replace_list(struct cdf_header *h, int varid, const struct cdf_atts *from)
{
    for (int i = 0; i < from->count; i++) {
        const struct cdf_att *b = &from->list[i];
        void *values = NULL;
        int id, err = cdf_find_att(h, varid, b->name, &id);
        if (err != NC_NOERR || cdf_same_values(&cdf_atts(h, varid)->list[id], b))
            continue;
        err = cdf_put_att(h, varid, b->name, b->type, b->nelems, &values);
        if (err != NC_NOERR) return err;
        if (b->nelems > 0 && values != NULL)
            memcpy(values, b->values, (size_t)(b->nelems * cdf_type_size(b->type)));
    }
    return NC_NOERR;
}

int cdf_replace_atts(struct cdf_header *h, const struct cdf_header *from)
{
    int err = replace_list(h, NC_GLOBAL, &from->gatts);
    for (int id = 0; id < h->nvars && err == NC_NOERR; id++)
        err = replace_list(h, id, &from->vars[id].atts);
    return err;
}

int cdf_del_att(struct cdf_header *h, int varid, const char *name)
{
    int i;
    int err = cdf_find_att(h, varid, name, &i);
    if (err != NC_NOERR) return err;
    struct cdf_atts *atts = cdf_atts(h, varid);
    struct cdf_att gone = atts->list[i];
    if (atts->names.capacity > 0) {
        base_names_remove(&atts->names, gone.name, i);
        base_names_close_gap(&atts->names, i);
    }
    int last = atts->count - 1;
    memmove(&atts->list[i], &atts->list[i + 1], (size_t)(last - i) * sizeof gone);
    atts->list[last] = gone; /* the next attribute reuses its memory */
    atts->count--;
    if (h->has_duplicate_names) rebuild_index(h, atts);
    return NC_NOERR;
}

int cdf_rename_att(struct cdf_header *h, int varid, const char *name,
                   const char *new_name)
{
    char norm[NC_MAX_NAME + 1], old[NC_MAX_NAME + 1];
    int i;
    int err = cdf_find_att(h, varid, name, &i);
    if (err == NC_NOERR) err = cdf_check_name(new_name, norm);
    if (err != NC_NOERR) return err;
    struct cdf_atts *atts = cdf_atts(h, varid);
    if (find_exact(atts, norm) >= 0)
        return base_error_set(NC_ENAMEINUSE, "attribute '%.80s' already exists", norm);

    bool table = atts->names.capacity > 0;
    if (table && base_names_add(&atts->names, norm, i) != 0) return NC_ENOMEM;
    strcpy(old, atts->list[i].name);
    const char *kept = cdf_name_store(&h->arena, atts->list[i].name, norm, strlen(norm));
    if (table) base_names_remove(&atts->names, kept == NULL ? norm : old, i);
    if (kept == NULL) return NC_ENOMEM;
    atts->list[i].name = kept;
    if (h->has_duplicate_names) rebuild_index(h, atts);
    return NC_NOERR;
}
