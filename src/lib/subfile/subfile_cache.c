/* Reads and expands frames (see subfile_cache.h). */
#include "subfile_cache.h"

#include "base_mem.h"
#include "base_require.h"
#include "base_sum.h"

enum { CHAINS = 16, FRAMES = 16 }; /* cache entries; frames take 4 MiB */

/* A cached chain and its subfile; unused if it has no frames. */
struct cached_chain {
    int sub;
    int64_t at; /* offset in the log */
    struct subfile_chain chain;
};

/* Identity of an expanded frame: its chain, its index in the chain, and its offset in the
 * log, which is 0 if the entry is unused. */
struct cached_frame {
    int sub;
    int64_t varid, record, blob, i, at;
};

struct subfile_entries {
    struct cached_chain chains[CHAINS];
    struct cached_frame frames[FRAMES];
    int chain, frame;              /* the entries that were replaced last */
    unsigned char *values[FRAMES]; /* NULL until allocated */
    unsigned char stored[SUBFILE_FRAME], scratch[SUBFILE_FRAME];
};

void subfile_cache_free(struct subfile_cache *cache)
{
    struct subfile_entries *k = cache->entries;
    for (int i = 0; k != NULL && i < CHAINS; i++)
        base_free(k->chains[i].chain.frames);
    for (int i = 0; k != NULL && i < FRAMES; i++)
        base_free(k->values[i]);
    base_coder_end(&cache->coder);
    base_free(k);
    base_free(cache->rows);
}

static struct subfile_entries *get_entries(struct subfile_cache *cache)
{
    if (cache->entries == NULL) cache->entries = base_calloc(1, sizeof *cache->entries);
    return cache->entries;
}

static int complain(const struct subfile *s, const struct subfile_chain *c, int err,
                    const char *what)
{
    return subfile_complain(s, (int)c->varid, c->record, c->blob, err, what);
}

/* ---- chains ---- */

/* Reads the chain at a place into c, which has the chain's expected identity. The
 * expected length is known, so a damaged chain cannot cause a large allocation. */
static int read_chain(struct subfile *s, const struct subfile_place *p,
                      struct subfile_chain *c)
{
    int64_t n = subfile_chain_frames(c->nelems * c->size), bytes = subfile_chain_size(n);
    if (p->bytes != bytes || n == 0)
        return complain(s, c, NC_ENOTNC, "the chain of frames has the wrong length");
    if (!subfile_has_log(s, p->at, bytes))
        return complain(s, c, NC_ENOTNC, "the chain of frames is outside the log");
    unsigned char *raw = base_malloc((size_t)bytes);
    c->frames = base_malloc((size_t)n * sizeof *c->frames);
    int err = raw == NULL || c->frames == NULL ? NC_ENOMEM
                                               : s->read_log(s->who, p->at, raw, bytes);
    const char *wrong = err == NC_NOERR
                            ? subfile_chain_decode(c, subfile_seed(s->facts), raw, bytes)
                            : NULL;
    if (wrong != NULL) err = complain(s, c, NC_ENOTNC, wrong);
    base_free(raw);
    if (err == NC_NOERR) return NC_NOERR;
    base_free(c->frames);
    c->frames = NULL;
    return err;
}

int subfile_find_chain(struct subfile *s, int varid, int64_t record,
                       const struct subfile_blob *blob,
                       const struct subfile_chain **chain)
{
    struct subfile_entries *k = get_entries(s->cache);
    struct subfile_place p;
    *chain = NULL;
    if (k == NULL) return NC_ENOMEM;
    int err = subfile_find_place(s, varid, record, blob->number, &p);
    if (err != NC_NOERR || p.bytes == 0) return err;
    for (int i = 0; i < CHAINS; i++) {
        const struct subfile_chain *c = &k->chains[i].chain;
        if (c->frames != NULL && k->chains[i].sub == s->number &&
            k->chains[i].at == p.at && c->varid == varid && c->record == record &&
            c->blob == blob->number && c->nelems == blob->nelems) {
            *chain = c;
            return NC_NOERR;
        }
    }
    struct cached_chain *x = &k->chains[k->chain = (k->chain + 1) % CHAINS];
    base_free(x->chain.frames);
    *x = (struct cached_chain){
        .sub = s->number,
        .at = p.at,
        .chain = {.varid = varid,
                  .record = record,
                  .blob = blob->number,
                  .nelems = blob->nelems,
                  .size = cdf_type_size(s->master->vars[varid].type)}};
    err = read_chain(s, &p, &x->chain);
    if (err == NC_NOERR) *chain = &x->chain;
    return err;
}

/* ---- frames ---- */

/* Reads the bytes of frame i into s->cache->entries->stored. */
static int load_frame(struct subfile *s, const struct subfile_chain *c, int64_t i)
{
    const struct subfile_frame *f = &c->frames[i];
    base_require(f->bytes > 0 && f->bytes <= SUBFILE_FRAME);
    if (!subfile_has_log(s, f->at, f->bytes))
        return complain(s, c, NC_ENOTNC, "a frame is outside the log");
    return s->read_log(s->who, f->at, s->cache->entries->stored, f->bytes);
}

int subfile_read_frame(struct subfile *s, const struct subfile_chain *c, int64_t i,
                       const unsigned char **bytes)
{
    const struct subfile_frame *f = &c->frames[i];
    base_require(i >= 0 && i < subfile_chain_frames(c->nelems * c->size));
    int err = load_frame(s, c, i);
    *bytes = s->cache->entries->stored;
    if (err != NC_NOERR ||
        base_sum(*bytes, (size_t)f->bytes, subfile_seed(s->facts)) == f->sum)
        return err;
    return complain(s, c, NC_ENOTNC, "the checksum of a frame is wrong");
}

int subfile_find_values(struct subfile *s, const struct subfile_chain *c, int64_t i,
                        const unsigned char **values)
{
    struct subfile_entries *k = s->cache->entries;
    base_require(i >= 0 && i < subfile_chain_frames(c->nelems * c->size));
    const struct cached_frame key = {s->number, c->varid, c->record,
                                     c->blob,   i,        c->frames[i].at};
    for (int j = 0; j < FRAMES; j++) {
        const struct cached_frame *f = &k->frames[j];
        *values = k->values[j];
        if (f->at == key.at && f->sub == key.sub && f->varid == key.varid &&
            f->record == key.record && f->blob == key.blob && f->i == i)
            return NC_NOERR;
    }
    int j = k->frame = (k->frame + 1) % FRAMES;
    if (k->values[j] == NULL) k->values[j] = base_malloc(SUBFILE_FRAME);
    if (k->values[j] == NULL) return NC_ENOMEM;
    k->frames[j].at = 0;
    int err = load_frame(s, c, i);
    if (err != NC_NOERR) return err;
    const char *wrong =
        subfile_frame_unpack(&s->cache->coder, c, i, subfile_seed(s->facts), k->stored,
                             k->scratch, k->values[j]);
    if (wrong != NULL)
        return complain(s, c,
                        base_has_codec(c->codec) || c->codec >= BASE_CODECS
                            ? NC_ENOTNC
                            : NC_ENOTBUILT,
                        wrong);
    k->frames[j] = key;
    *values = k->values[j];
    return NC_NOERR;
}
