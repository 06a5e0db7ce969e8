/* Compares the ways in which requests reach a file with a model. The model lists the file
 * offset of every element, and copies the elements one by one. Random requests for
 * hyperslabs, lists of blocks and scattered memory are put and got through a stream of
 * tiles and by a walk through blocks of the file, in parts of random sizes. */
#include "unit.h"

#include "access_tile.h"
#include "access_walk.h"
#include "plan_value.h"
#include "splitmix.h"

enum { REQUESTS = 9, MOST = 6000, DIMS = 3, RECORDS = 5, MARK = 1 << ACCESS_COARSE };

/* A request, and the model of it: the offset of each element in the file and in memory,
 * and the values. */
struct scene_request {
    _Alignas(struct access_request) unsigned char request[sizeof(struct access_request) +
                                                          10 * sizeof(int64_t)];
    int64_t n, at[MOST], pos[MOST];
    uint64_t value[MOST]; /* values of the variable's type */
    int memory;           /* enum plan_memory */
    struct region *raw, *mem;
    unsigned char buf[16 * MOST];
};

static struct access_request *request_of(struct scene_request *q)
{
    return (struct access_request *)q->request;
}

static const enum conv_type conv_types[] = {
    CONV_TEXT, CONV_SCHAR,    CONV_UCHAR, CONV_SHORT,  CONV_USHORT,   CONV_INT,
    CONV_UINT, CONV_LONGLONG, CONV_FLOAT, CONV_DOUBLE, CONV_LONGLONG, CONV_ULONGLONG};

static uint64_t random_state = 1;
static struct cdf_header h;
static int64_t image_size;
static struct scene_request scene[REQUESTS];
static struct access_request *reqs[REQUESTS];
static int nreqs;

static int64_t draw(int64_t low, int64_t high) /* inclusive limits */
{
    return low + (int64_t)(splitmix_next(&random_state) % (uint64_t)(high - low + 1));
}

/* ---- the model ---- */

static void define_variables(void)
{
    static const int shapes[][DIMS] = {{-1},    {1, 2, 3},  {2, 3, -1}, {3, -1},
                                       {0, -1}, {0, 2, -1}, {0, 3, 2},  {4, -1}};
    static const int64_t lengths[] = {NC_UNLIMITED, 5, 7, 3, 5000};
    const struct cdf_padding padding = {0, 4, 0, 4, false, false};
    int id;
    cdf_init(&h, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(NC_NOERR,
                         cdf_def_dim(&h, (char[]){(char)('a' + i), 0}, lengths[i], &id));
    for (int i = 0; i < 16; i++) {
        const int *dims = shapes[i % 8];
        int ndims = 0, type = 1 + i % 11;
        while (ndims < DIMS && dims[ndims] >= 0)
            ndims++;
        assert_int_equal(NC_NOERR, cdf_def_var(&h, (char[]){(char)('a' + i), 0}, type,
                                               ndims, dims, &id));
    }
    h.numrecs = RECORDS;
    assert_int_equal(NC_NOERR, cdf_layout(&h, NULL, &padding));
    image_size = cdf_file_size(&h) + MARK;
}

static int64_t element_offset(const struct cdf_var *v, const int64_t *index)
{
    int64_t n = 0, begin = v->begin;
    for (int k = 0; k < v->ndims; k++)
        n = k == 0 && v->is_record ? 0 : n * v->shape[k] + index[k];
    if (v->is_record) begin += index[0] * h.record_size;
    return begin + n * cdf_type_size(v->type);
}

static void draw_slab(struct scene_request *q, const struct cdf_var *v)
{
    struct access_request *r = request_of(q);
    int64_t *start = r->slab + r->mapped, index[DIMS];
    int n = v->ndims;
    r->strided = n > 0 && draw(0, 1) == 0;
    q->n = 1;
    for (int k = 0; k < n; k++) {
        int64_t length = k == 0 && v->is_record ? RECORDS : v->shape[k];
        int64_t stride = r->strided ? draw(1, 3) : 1;
        start[k] = draw(0, 2) == 0 ? 0 : draw(0, length - 1);
        int64_t most = (length - start[k] + stride - 1) / stride;
        start[n + k] = draw(0, 2) == 0 ? most : draw(draw(0, 9) > 0, most);
        if (r->strided) start[2 * n + k] = stride;
        q->n *= start[n + k];
    }
    for (int64_t i = 0; i < q->n; i++) {
        int64_t rest = i;
        for (int k = n - 1; k >= 0; k--) {
            index[k] =
                start[k] + rest % start[n + k] * (r->strided ? start[2 * n + k] : 1);
            rest /= start[n + k];
        }
        q->at[i] = element_offset(v, index);
    }
}

/* Chooses ascending blocks within a variable or one of its records. */
static void draw_raw(struct scene_request *q, const struct cdf_var *v)
{
    int64_t first[MOST], length[MOST], n = 0, size = cdf_type_size(v->type);
    int64_t record = v->is_record ? draw(0, RECORDS - 1) : 0, longest = draw(1, 40);
    q->n = 0;
    for (int64_t e = draw(0, 3); e < v->nelems;) {
        int64_t many = draw(1, longest);
        if (many > v->nelems - e) many = v->nelems - e;
        first[n] = e * size;
        length[n++] = many * size;
        for (; many > 0; many--, e++)
            q->at[q->n++] = v->begin + record * h.record_size + e * size;
        e += draw(1, 3);
    }
    q->raw = region_blocks(n, first, length);
    request_of(q)->raw = true;
    int64_t *slab = request_of(q)->slab + request_of(q)->mapped;
    slab[0] = (int64_t)(intptr_t)q->raw;
    slab[1] = q->n;
    slab[2] = record;
}

/* Assigns memory to the values: contiguous, or scattered in random order. */
static void draw_memory(struct scene_request *q)
{
    int64_t size = (int64_t)plan_memory_size(q->memory), length[MOST];
    for (int64_t i = 0; i < q->n; i++) {
        q->pos[i] = i * size;
        length[i] = size;
    }
    if (!request_of(q)->mapped) return;
    for (int64_t i = q->n - 1; i > 0; i--) {
        int64_t k = draw(0, i), other = q->pos[k];
        q->pos[k] = q->pos[i];
        q->pos[i] = other;
    }
    for (int64_t i = 0; i < q->n; i++)
        q->pos[i] = 1 + q->pos[i] * 3 / 2; /* not aligned; with gaps */
    q->mem = region_blocks(q->n, q->pos, length);
    access_set_mem(request_of(q), q->mem);
}

static void draw_request(struct scene_request *q)
{
    int varid = (int)draw(0, h.nvars - 1);
    const struct cdf_var *v = &h.vars[varid];
    memset(q, 0, sizeof *q);
    *request_of(q) =
        (struct access_request){.buf = q->buf, .varid = varid, .mapped = draw(0, 1) == 0};
    q->memory = plan_memory_of(v->type);
    if (v->type != NC_CHAR && draw(0, 2) == 0)
        q->memory = (int)draw(MEMORY_SCHAR, MEMORY_TYPES - 1);
    request_of(q)->type = (unsigned char)conv_types[q->memory];
    if (draw(0, 2) == 0)
        draw_raw(q, v);
    else
        draw_slab(q, v);
    draw_memory(q);
    for (int64_t i = 0; i < q->n; i++)
        q->value[i] = plan_value(v->type, q->memory, splitmix_next(&random_state));
}

static void draw_scene(void)
{
    nreqs = (int)draw(1, REQUESTS);
    for (int i = 0; i < nreqs; i++) {
        draw_request(&scene[i]);
        reqs[i] = request_of(&scene[i]);
    }
}

static void end_scene(void)
{
    for (int i = 0; i < nreqs; i++) {
        region_free(scene[i].raw);
        region_free(scene[i].mem);
    }
}

static void store_big_endian(unsigned char *to, uint64_t value, int64_t size)
{
    for (int64_t k = 0; k < size; k++)
        to[k] = (unsigned char)(value >> 8 * (size - 1 - k));
}

static void fill_buffers(void)
{
    for (int i = 0; i < nreqs; i++) {
        struct scene_request *q = &scene[i];
        for (int64_t k = 0; k < q->n; k++) {
            uint64_t value;
            int type = h.vars[request_of(q)->varid].type;
            assert_true(plan_convert(5, type, q->value[k], q->memory, &value));
            plan_store(q->buf + q->pos[k], q->memory, 0, value);
        }
    }
}

static void put_model(unsigned char *image)
{
    for (int i = 0; i < nreqs; i++) {
        int64_t size = cdf_type_size(h.vars[request_of(&scene[i])->varid].type);
        for (int64_t k = 0; k < scene[i].n; k++)
            store_big_endian(image + scene[i].at[k], scene[i].value[k], size);
    }
}

/* ---- the ways ---- */

static int stream_all(unsigned char *image, bool put)
{
    int64_t most = 0, copied = 0, max_bytes = draw(0, 1) == 0 ? 1 << 20 : draw(8, 700);
    int64_t max_pieces = draw(0, 1) == 0 ? 1 << 20 : draw(1, 30);
    struct access_staging staging = {.most = &most, .copied = &copied};
    struct access_stream s = {
        .header = &h, .staging = &staging, .reqs = reqs, .n = nreqs, .put = put};
    struct access_tile t = {0};
    int result = NC_NOERR;
    while (!access_stream_ended(&s)) {
        access_tile_clear(&t);
        assert_int_equal(NC_NOERR, access_stream_plan(&s, &t, max_bytes, max_pieces));
        assert_in_range(t.used, 0, max_bytes);
        assert_int_equal(NC_NOERR, access_stream_finish_plan(&s, &t));
        if (put) result = base_error_merge(result, access_stream_pack(&s, &t));
        int64_t end = 0;
        for (int64_t i = 0; i < t.npieces; i++) {
            const struct access_piece *p = &t.pieces[i];
            assert_true(p->offset >= end && p->length > 0);
            end = p->offset + p->length;
            if (put)
                memcpy(image + p->offset, t.bytes + p->pos, (size_t)p->length);
            else
                memcpy(t.bytes + p->pos, image + p->offset, (size_t)p->length);
        }
        if (!put) result = base_error_merge(result, access_stream_unpack(&s, &t));
    }
    access_stream_free(&s);
    access_tile_free(&t);
    access_staging_free(&staging);
    return result;
}

/* Returns the lowest offset of a value in [low, high) that this call needs, and the end
 * of the last one, or false if there is none. A get needs whole values that begin
 * there. */
static bool needed_range(int64_t low, int64_t high, int64_t *from, int64_t *to)
{
    *from = INT64_MAX;
    *to = 0;
    for (int i = 0; i < nreqs; i++)
        for (int64_t k = 0; k < scene[i].n; k++) {
            int64_t at = scene[i].at[k];
            int64_t size = cdf_type_size(h.vars[request_of(&scene[i])->varid].type);
            if (at < low || at >= high) continue;
            if (at < *from) *from = at;
            if (at + size > *to) *to = at + size;
        }
    return *from < INT64_MAX;
}

static int walk_block(struct access_walk *w, unsigned char *image, int64_t low,
                      int64_t high, int shift)
{
    int64_t origin = low - draw(0, 3) * MARK, size = high - origin, from, to, must[2];
    struct access_block b = {.origin = origin, .start = low, .end = high, .shift = shift};
    b.bytes = malloc((size_t)size + ACCESS_SLACK);
    b.marks = calloc(1, (size_t)(size >> shift) + 1);
    if (!w->put) {
        memcpy(b.bytes + (low - origin), image + low,
               (size_t)(high - low) + ACCESS_SLACK);
        assert_int_equal(NC_NOERR, access_walk_find_range(w, low, high, &from, &to));
        if (needed_range(low, high, &must[0], &must[1])) {
            assert_true(low <= from && from <= must[0]);
            assert_true(must[1] <= to && to <= high + ACCESS_SLACK);
        }
        assert_int_equal(NC_NOERR, access_walk_next(w, low, &from));
        bool more = needed_range(low, image_size, &must[0], &must[1]);
        assert_true(more ? low <= from && from <= must[0] : from >= image_size - MARK);
    }
    int err = access_walk_block(w, &b);
    for (int64_t i = low - origin; w->put && i < size; i++)
        if (b.marks[i >> shift]) image[origin + i] = b.bytes[i];
    free(b.bytes);
    free(b.marks);
    return err;
}

/* Walks through blocks of random sizes, in any order. */
static int walk_all(unsigned char *image, bool put)
{
    int64_t cuts[200], n = 0;
    int result = NC_NOERR, shift = (int)draw(0, ACCESS_COARSE);
    struct access_extent sum = access_extent_init(), s;
    struct access_walk w = {.header = &h, .put = put, .log2_block = (int)draw(3, 9)};
    for (int i = 0; i < nreqs; i++)
        if (access_extent(&h, reqs[i], &s)) access_extent_add(&sum, &s);
    if (sum.high == 0) return NC_NOERR;
    if (shift > sum.shift) shift = sum.shift;
    assert_int_equal(NC_NOERR, access_walk_begin(&w, reqs, nreqs, sum.low, sum.high));
    int64_t at = sum.low / MARK * MARK, widest = draw(1, 12);
    for (cuts[0] = at; at < sum.high; cuts[++n] = at)
        at += n < 198 ? draw(1, widest) * MARK : sum.high - at;
    for (int64_t i = 0, step = n % 7 == 0 ? 1 : 7, k = 0; i < n;
         i++, k = (k + step) % n) {
        int64_t end =
            cuts[k + 1] < sum.high ? cuts[k + 1] : (sum.high + MARK - 1) & -MARK;
        result = base_error_merge(result, walk_block(&w, image, cuts[k], end, shift));
    }
    access_walk_end(&w);
    return result;
}

static int (*const ways[])(unsigned char *, bool) = {stream_all, walk_all};

static unsigned char *new_image(void)
{
    unsigned char *image = malloc((size_t)image_size + MARK);
    for (int64_t i = 0; i < image_size + MARK; i++)
        image[i] = (unsigned char)splitmix_next(&random_state);
    return image;
}

static void puts_reach_their_bytes_and_no_others(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        unsigned char *before = new_image(), *want = new_image(), *got = new_image();
        draw_scene();
        fill_buffers();
        memcpy(want, before, (size_t)image_size);
        put_model(want);
        for (int way = 0; way < 2; way++) {
            memcpy(got, before, (size_t)image_size);
            assert_int_equal(NC_NOERR, ways[way](got, true));
            assert_memory_equal(want, got, (size_t)image_size);
        }
        end_scene();
        free(before);
        free(want);
        free(got);
    }
}

static void gets_change_only_their_memory(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        unsigned char *image = new_image();
        draw_scene();
        put_model(image);
        for (int way = 0; way < 2; way++) {
            for (int i = 0; i < nreqs; i++)
                memset(scene[i].buf, 0xA5, sizeof scene[i].buf);
            (void)ways[way](image, false); /* overlapping values may be out of range */
            for (int i = 0; i < nreqs; i++) {
                struct scene_request *q = &scene[i];
                int64_t size = (int64_t)plan_memory_size(q->memory);
                for (int64_t k = 0; k < q->n; k++) {
                    int type = h.vars[request_of(q)->varid].type;
                    uint64_t value = 0, want;
                    for (int64_t b = 0; b < cdf_type_size(type); b++)
                        value = value << 8 | image[q->at[k] + b];
                    if (plan_convert(5, type, value, q->memory, &want))
                        assert_true(
                            plan_is_same(q->memory, want,
                                         plan_load(q->buf + q->pos[k], q->memory, 0)));
                    memset(q->buf + q->pos[k], 0xA5, (size_t)size);
                }
                for (size_t k = 0; k < sizeof q->buf; k++)
                    assert_int_equal(0xA5, q->buf[k]);
            }
        }
        end_scene();
        free(image);
    }
}

static void puts_are_converted_to_the_own_type_in_memory(void **state)
{
    static unsigned char got[8 * MOST];
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct scene_request *q = &scene[0];
        struct access_values v;
        nreqs = 1;
        draw_request(q);
        fill_buffers();
        int type = h.vars[request_of(q)->varid].type, own = plan_memory_of(type);
        assert_int_equal(NC_NOERR, access_values_begin(&v, &h, request_of(q), true));
        for (int64_t at = 0, n; at < q->n; at += n) {
            n = draw(1, q->n - at);
            access_values_convert(&v, type, got + at * v.xsize, n);
            assert_int_equal(at + n, v.done);
        }
        for (int64_t i = 0; i < q->n; i++)
            assert_true(plan_is_same(own, q->value[i], plan_load(got, own, i)));
        access_values_end(&v);
        end_scene();
    }
}

/* ---- extents and runs ---- */

static void extents_bound_the_elements(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct scene_request *q = &scene[0];
        struct access_extent s;
        draw_request(q);
        int64_t size = cdf_type_size(h.vars[request_of(q)->varid].type), low = INT64_MAX,
                high = 0;
        int64_t runs = 0, bits = 0, records = 0, n = q->n;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = q->at[i], end = i > 0 ? q->at[i - 1] + size : -1;
            if (at < low) low = at;
            if (at + size > high) high = at + size;
            runs += at != end;
            if (at != end) bits |= at | (i > 0 ? end : 0);
        }
        bits |= high;
        if (n > 0 && h.vars[request_of(q)->varid].is_record)
            records =
                (q->at[n - 1] - h.vars[request_of(q)->varid].begin) / h.record_size + 1;
        assert_int_equal(records, access_records(&h, request_of(q)));
        assert_int_equal(n > 0, access_extent(&h, request_of(q), &s));
        if (n > 0) {
            int shift = __builtin_ctzll((uint64_t)bits);
            assert_int_equal(low, s.low);
            assert_int_equal(high, s.high);
            assert_int_equal(n * size, s.bytes);
            assert_true(s.pieces >= runs && s.ascending);
            if (shift > ACCESS_COARSE) shift = ACCESS_COARSE;
            assert_true(request_of(q)->raw ? s.shift <= shift : s.shift == shift);
        }
        nreqs = 1;
        end_scene();
    }
}

/* Positions the cursor at random, and compares the bytes from there on. */
static void runs_list_the_bytes_in_order(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct scene_request *q = &scene[0];
        struct access_runs x;
        struct region_strip s;
        draw_request(q);
        int64_t size = cdf_type_size(h.vars[request_of(q)->varid].type), at, peek;
        assert_int_equal(NC_NOERR, access_runs_begin(&x, &h, request_of(q)));
        for (int turn = 0; turn < 5; turn++) {
            int64_t rank = draw(0, q->n) * size, limit = draw(0, image_size), e = 0;
            access_runs_skip_to(&x, rank);
            if (draw(0, 1) == 0) {
                while (e < q->n && q->at[e] + size <= limit)
                    e++;
                rank = access_runs_seek(&x, limit);
                int64_t inside = e < q->n && limit > q->at[e] ? limit - q->at[e] : 0;
                assert_int_equal(e * size + inside, rank);
            }
            bool below = rank % size == 0 && draw(0, 1) == 0;
            assert_int_equal(rank < q->n * size, access_runs_peek(&x, &peek));
            if (rank < q->n * size)
                assert_int_equal(q->at[rank / size] + rank % size, peek);
            limit = below ? draw(0, image_size) : INT64_MAX;
            while (below ? access_runs_next_below(&x, limit, size, &s)
                         : access_runs_next(&x, draw(1, 99), draw(1, 9), &s)) {
                assert_true(s.count > 0 && s.length > 0);
                for (int64_t i = 0; i < s.count * s.length; i++, rank++) {
                    at = s.offset + i / s.length * s.stride + i % s.length;
                    assert_true(rank < q->n * size);
                    assert_int_equal(q->at[rank / size] + rank % size, at);
                    if (rank % size == 0) assert_true(at < limit);
                }
            }
            if (rank < q->n * size) assert_true(below && q->at[rank / size] >= limit);
        }
        access_runs_end(&x);
        nreqs = 1;
        end_scene();
    }
}

/* Chooses slabs that end up to 2^63 - 1, with lengths beyond 2^31. The model calculates
 * with 128 bits. */
static void extents_of_huge_slabs_are_exact(void **state)
{
    int nears = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        int64_t shape[2], start[2], count[2], stride[2];
        bool record = draw(0, 1) == 0;
        const int64_t size = 8, ends = INT64_MAX - draw(0, 1000);
        for (int k = 0; k < 2; k++) {
            shape[k] = (INT64_C(1) << draw(0, 33)) + draw(-1, 9);
            start[k] = draw(0, shape[k]);
            stride[k] = draw(1, INT64_C(1) << draw(0, 33));
            count[k] = draw(0, 2) == 0 ? 1 : INT64_C(1) << draw(0, 33);
        }
        const struct cdf_header big = {.record_size = draw(8, INT64_C(1) << draw(3, 50))};
        struct cdf_var v = {NULL, NC_DOUBLE, 2, NULL, shape, record, .begin = 0};
        __int128 step = record ? (__int128)big.record_size : (__int128)shape[1] * size;
        __int128 low = start[0] * step + start[1] * size;
        __int128 span = (count[0] - 1) * step * stride[0];
        span += (__int128)(count[1] - 1) * stride[1] * size;
        if (low + span + size > ends || count[0] * (__int128)count[1] > INT64_MAX / size)
            continue;
        if (record) shape[0] = 0;
        v.begin = round % 2 == 0 ? (int64_t)(ends - low - span - size) : draw(0, 3) * 4;
        if (low + v.begin + span + size > INT64_MAX) continue;
        nears += low + v.begin + span + size > INT64_MAX - 1001;
        bool inner = count[1] == 1 || stride[1] == 1, outer = count[0] == 1;
        bool joined = inner && !outer && stride[0] * step == count[1] * size;
        int64_t pieces = (inner ? 1 : count[1]) * (outer || joined ? 1 : count[0]);
        struct access_extent s;
        access_extent_slab(&big, &v, start, count, stride, &s);
        assert_true(s.low == low + v.begin && s.high == low + v.begin + span + size);
        assert_true(s.pieces == pieces && s.bytes == count[0] * count[1] * size);
        assert_true(s.shift < 62 && s.low % (INT64_C(1) << s.shift) == 0);
    }
    assert_true(nears > 100);
}

static void sums_of_extents_do_not_overflow(void **state)
{
    struct access_extent sum = access_extent_init();
    const struct access_extent parts[] = {{8, 24, 2, 16, 3, true},
                                          {INT64_MAX - 9, INT64_MAX, 1, 9, 0, true},
                                          {4, 8, INT64_MAX - 3, INT64_MAX - 25, 2, false},
                                          {16, 64, 1, 1, 4, true}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        access_extent_add(&sum, &parts[i]);
        assert_int_equal(i < 2 ? 8 : 4, sum.low);
        assert_true(sum.high == (i == 0 ? 24 : INT64_MAX));
        assert_int_equal(i == 0 ? 3 : 0, sum.shift);
        assert_int_equal(i < 2, sum.ascending);
    }
    assert_true(sum.pieces == INT64_MAX && sum.bytes == INT64_MAX);
}

/* ---- errors ---- */

static void a_value_out_of_range_concerns_only_its_request(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        unsigned char *image = new_image();
        draw_scene();
        fill_buffers();
        int bad = (int)draw(0, nreqs - 1), way = round % 2;
        struct scene_request *q = &scene[bad];
        int type = h.vars[request_of(q)->varid].type;
        bool can = q->n > 0 && q->memory == MEMORY_DOUBLE && type != NC_DOUBLE;
        if (can)
            plan_store(q->buf + q->pos[draw(0, q->n - 1)], MEMORY_DOUBLE, 0,
                       UINT64_C(0x7fe123456789abcd)); /* 1.0e308 */
        assert_int_equal(can ? NC_ERANGE : NC_NOERR, ways[way](image, true));
        for (int i = 0; i < nreqs; i++)
            assert_int_equal(can && i == bad ? NC_ERANGE : NC_NOERR, reqs[i]->status);
        end_scene();
        free(image);
    }
}

static int begin_tests(void **state)
{
    (void)state;
    const char *seed = getenv("NCMPI_TEST_SEED");
    if (seed != NULL) random_state = strtoull(seed, NULL, 10);
    print_message("# seed %llu\n", (unsigned long long)random_state);
    define_variables();
    return 0;
}

static int end_tests(void **state)
{
    (void)state;
    cdf_free(&h);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_reach_their_bytes_and_no_others),
        cmocka_unit_test(gets_change_only_their_memory),
        cmocka_unit_test(puts_are_converted_to_the_own_type_in_memory),
        cmocka_unit_test(extents_bound_the_elements),
        cmocka_unit_test(runs_list_the_bytes_in_order),
        cmocka_unit_test(extents_of_huge_slabs_are_exact),
        cmocka_unit_test(sums_of_extents_do_not_overflow),
        cmocka_unit_test(a_value_out_of_range_concerns_only_its_request),
    };
    return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
