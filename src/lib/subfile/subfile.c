/* Names subfiles, checks their headers, and encodes the places of chains in tables. */
#include "subfile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_bytes.h"
#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_mem.h"
#include "conv.h"
#include "subfile_digest.h"
#include "subfile_names.h"

int subfile_get_att(const struct cdf_header *h, int varid, const char *name,
                    int64_t *values, int most)
{
    int i;
    if (cdf_find_att(h, varid, name, &i) != NC_NOERR) return 0;
    const struct cdf_att *a =
        &(varid == NC_GLOBAL ? &h->gatts : &h->vars[varid].atts)->list[i];
    if (a->type != NC_INT && a->type != NC_INT64) return 0;
    int n = a->nelems < most ? (int)a->nelems : most;
    (void)conv_get(values, CONV_LONGLONG, a->values, a->type, (size_t)n);
    return n;
}

char *subfile_path(const char *master, int number)
{
    size_t size = strlen(master) + 16;
    char *path = base_malloc(size);
    if (path != NULL) snprintf(path, size, "%s.%04d", master, number);
    return path;
}

char *subfile_join_path(const char *path, const struct cdf_superblock *e)
{
    size_t size = strlen(path) + 48;
    char *joining = base_malloc(size);
    if (joining != NULL)
        snprintf(joining, size, "%s.joining-%016" PRIx64, path,
                 e->token[0] ^ e->token[1]);
    return joining;
}

bool subfile_is_blank(const char *path)
{
    enum { PAGE = 4096 };
    static const unsigned char zeros[PAGE];
    unsigned char page[PAGE];
    struct stat st;
    int fd = base_open(path, O_RDONLY);
    bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    int64_t n = regular ? base_read_some(fd, 0, page, PAGE) : -1;
    if (fd >= 0) (void)close(fd);
    return n >= 0 && memcmp(page, zeros, (size_t)n) == 0;
}

const char *subfile_check_header(struct cdf_header *h, const struct cdf_superblock *e,
                                 int number)
{
    int64_t token[2] = {0, 0}, is = -1, of = -1, procs = -1;
    if (subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_TOKEN, token, 2) != 2 ||
        (uint64_t)token[0] != e->token[0] || (uint64_t)token[1] != e->token[1])
        return "it is a subfile of another dataset or another run";
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_NUMBER, &is, 1);
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_SUBFILES, &of, 1);
    (void)subfile_get_att(h, NC_GLOBAL, SUBFILE_ATT_NPROCS, &procs, 1);
    if (is != number) return "it is a subfile with another number";
    if (of != e->nsubfiles || procs != e->nprocs)
        return "its number of subfiles or processes differs from that in the master file";
    return NULL;
}

bool subfile_is_framed(const struct cdf_header *h, int id)
{
    int64_t type;
    return subfile_get_att(h, id, SUBFILE_ATT_TYPE, &type, 1) == 1;
}

const char *subfile_get_varid(struct cdf_header *h, int id,
                              const struct cdf_header *master, int *varid)
{
    int64_t number = -1, type = 0;
    *varid = -1;
    if (subfile_get_att(h, id, SUBFILE_ATT_VARID, &number, 1) != 1) return NULL;
    if (number < 0 || number >= master->nvars) return NULL;
    const struct cdf_var *v = &h->vars[id], *of = &master->vars[number];
    bool table = subfile_get_att(h, id, SUBFILE_ATT_TYPE, &type, 1) == 1;
    bool good = table ? type == of->type && v->type == NC_INT64 && !v->is_record &&
                            v->ndims == 1 && v->nelems == SUBFILE_LEVELS
                      : v->type == of->type && v->is_record == of->is_record &&
                            v->ndims == 1 + of->is_record;
    if (!good) return "a variable differs from its definition in the master file";
    *varid = (int)number;
    return NULL;
}

int64_t subfile_nelems(const struct cdf_header *h, int id, int decomposition)
{
    char name[64];
    int dim;
    if (!subfile_is_framed(h, id)) return h->vars[id].nelems;
    snprintf(name, sizeof name, "D%d.nelems", decomposition);
    return cdf_find_dim(h, name, &dim) == NC_NOERR ? h->dims[dim].length : 0;
}

/* ---- messages ---- */

void subfile_describe(const struct subfile *s, int varid, int64_t record, int64_t blob,
                      char text[SUBFILE_TEXT])
{
    const struct cdf_var *v = &s->master->vars[varid];
    char where[48] = "", process[64] = "";
    if (v->is_record) snprintf(where, sizeof where, ", record %lld", (long long)record);
    if (blob >= 0)
        snprintf(process, sizeof process, ": the values that process %lld wrote",
                 (long long)(subfile_first_rank(s->facts, s->number) + blob));
    snprintf(text, SUBFILE_TEXT, "variable '%s'%s%s", v->name, where, process);
}

int subfile_complain(const struct subfile *s, int varid, int64_t record, int64_t blob,
                     int err, const char *what)
{
    char text[SUBFILE_TEXT];
    subfile_describe(s, varid, record, blob, text);
    return base_error_set(err, "%s: %s%s: %s", s->path, text,
                          blob < 0           ? ""
                          : err == NC_ENOTNC ? " are damaged"
                                             : " cannot be read",
                          what);
}

/* ---- the log ---- */

bool subfile_has_log(struct subfile *s, int64_t at, int64_t n)
{
    struct stat st;
    int64_t begin = s->h->vars[s->log].begin;
    if (at < SUBFILE_LOG_BEGIN) return false;
    if (at <= s->size - begin - n) return true;
    if (base_fs_stat(s->path, &st) == 0 && st.st_size > s->size) s->size = st.st_size;
    return at <= s->size - begin - n;
}

bool subfile_places_decode(const struct cdf_superblock *e, struct subfile_place *list,
                           const unsigned char *bytes, int64_t n)
{
    bool good = true;
    for (int64_t i = 0; i < n; i++) {
        list[i].at = (int64_t)base_get_word(&bytes);
        list[i].bytes = (int64_t)base_get_word(&bytes);
        good = good && subfile_digest_decode_length(e, list[i].at, &list[i].bytes) &&
               list[i].bytes >= 0 &&
               (list[i].bytes == 0 || list[i].at >= SUBFILE_LOG_BEGIN) &&
               list[i].at <= INT64_MAX - list[i].bytes;
    }
    return good;
}

void subfile_place_encode(const struct cdf_superblock *e, const struct subfile_place *p,
                          unsigned char *bytes)
{
    int64_t length = subfile_digest_encode_length(e, p->at, p->bytes);
    (void)base_put_word(base_put_word(bytes, (uint64_t)p->at), (uint64_t)length);
}
