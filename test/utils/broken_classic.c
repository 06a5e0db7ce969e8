/* broken_classic FORMAT FOLDER: writes a valid file, good.nc, and many files that contain
 * one error each. For each broken file, it prints the file name, the offset of the error,
 * and a description. It encodes the format itself, without the library. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 4096, MOST_FIELDS = 128 };

static int format, used, fields;
static unsigned char file[MOST_BYTES];
static struct field {
    char label[32];
    int offset, width;
} field[MOST_FIELDS];

static void store(unsigned char *to, int width, int64_t value)
{
    for (int i = width - 1; i >= 0; i--, value >>= 8)
        to[i] = (unsigned char)value;
}

static void put(const char *owner, const char *what, int width, int64_t value)
{
    struct field *f = &field[fields++];
    snprintf(f->label, sizeof f->label, "%s.%s", owner, what);
    f->offset = used;
    f->width = width;
    store(file + used, width, value);
    used += width;
}

static void put_bytes(const char *owner, const char *what, const char *bytes, int n)
{
    struct field *f = &field[fields++];
    snprintf(f->label, sizeof f->label, "%s.%s", owner, what);
    f->offset = used;
    f->width = n;
    memcpy(file + used, bytes, (size_t)n);
    used += n;
    if (n % 4 == 0) return;
    put(owner, strcmp(what, "name") == 0 ? "pad" : "vpad", 4 - n % 4, 0);
}

/* ---- the valid file ---- */

static int count_width(void)
{
    return format == 5 ? 8 : 4;
}

static void put_count(const char *owner, const char *what, int64_t n)
{
    put(owner, what, count_width(), n);
}

static void put_list(const char *owner, int tag, int n)
{
    put(owner, "tag", 4, tag);
    put_count(owner, "count", n);
}

static void put_name(const char *name)
{
    put_count(name, "length", (int64_t)strlen(name));
    put_bytes(name, "name", name, (int)strlen(name));
}

static void put_dim(const char *name, int length)
{
    put_name(name);
    put_count(name, "size", length);
}

static void put_text_att(const char *name, const char *text)
{
    put_name(name);
    put(name, "type", 4, 2);
    put_count(name, "nelems", (int64_t)strlen(text));
    put_bytes(name, "value", text, (int)strlen(text));
}

static void put_var(const char *name, int ndims, int first, int second, const char *att,
                    int type, int vsize)
{
    put_name(name);
    put_count(name, "ndims", ndims);
    if (ndims > 0) put_count(name, "id0", first);
    if (ndims > 1) put_count(name, "id1", second);
    if (att == NULL)
        put_list(name, 0, 0);
    else {
        put_list(name, 12, 1);
        put_text_att(att, "degree");
    }
    put(name, "type", 4, type);
    put_count(name, "vsize", vsize);
    put(name, "begin", format == 1 ? 4 : 8, 0);
}

static struct field *find(const char *label)
{
    for (int i = 0; i < fields; i++)
        if (strcmp(field[i].label, label) == 0) return &field[i];
    fprintf(stderr, "broken_classic: no field '%s'\n", label);
    exit(1);
}

static void set(const char *label, int64_t value)
{
    struct field *f = find(label);
    store(file + f->offset, f->width, value);
}

enum { FIXED = 8 + 48, RECORD = 8 + 4 };
static int data;

static void make_good(void)
{
    used = fields = 0;
    memset(file, 0, sizeof file);
    memcpy(file, "CDF", 3);
    file[3] = (unsigned char)format;
    used = 4;
    put_count("file", "numrecs", 3);
    put_list("dims", 10, 3);
    put_dim("t", 0);
    put_dim("lat", 5);
    put_dim("lon", 6);
    put_list("gatts", 12, 1);
    put_text_att("title", "seven..");
    put_list("vars", 11, 4);
    put_var("bytes", 1, 1, 0, "units", 1, 8);
    put_var("doubl", 1, 2, 0, NULL, 6, 48);
    put_var("shor", 2, 0, 2, NULL, 3, 12);
    put_var("rec", 1, 0, 0, NULL, 4, 4);
    data = used;
    set("bytes.begin", data);
    set("doubl.begin", data + 8);
    set("shor.begin", data + FIXED);
    set("rec.begin", data + FIXED + 12);
    used += FIXED + 3 * (12 + 4);
}

/* ---- broken files ---- */

static const char *folder;
static int number;

static void write_file(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(file, 1, (size_t)used, f) != (size_t)used || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* Writes the current image, which has an error at this offset, and then makes the image
 * valid again. */
static void broken(int offset, const char *mistake)
{
    char name[32];
    snprintf(name, sizeof name, "%d-%03d.nc", format, number++);
    write_file(name);
    printf("%s %d %s\n", name, offset, mistake);
    make_good();
}

/* Invalid field values. The error must be reported at the field `at`, or at `label` if
 * `at` is NULL. */
static const struct {
    const char *label;
    int64_t value;
    const char *at;
} wrong[] = {
    {"file.numrecs", 4, NULL},
    {"file.numrecs", 1000000, NULL},
    {"dims.tag", 11, NULL},
    {"dims.tag", 0, NULL},
    {"dims.tag", -1, NULL},
    {"dims.count", 0x7fffffff, NULL},
    {"dims.count", -1, NULL},
    {"dims.count", 2, "lon.length"},
    {"t.length", 257, NULL},
    {"t.length", 0x7ffffff0, NULL},
    {"lat.length", 0, "lat.name"},
    {"t.pad", 1, "t.pad+2"},
    {"lat.pad", 'x', NULL},
    {"lat.size", -1, NULL},
    {"lat.size", 0, NULL},
    {"lat.name", 0x2f6174, NULL},
    {"lat.name", 0x6c6f6e, "lon.name"},
    {"lat.name", 0x6c0074, "lat.name+1"},
    {"lat.name", 0x6cff74, NULL},
    {"lat.name", 0x6c6120, NULL},
    {"lat.name", 0x076174, NULL},
    {"gatts.tag", 10, NULL},
    {"gatts.count", -1, NULL},
    {"gatts.count", 0x10000000, NULL},
    {"title.type", 0, NULL},
    {"title.type", 12, NULL},
    {"title.type", 0x01000000, NULL},
    {"title.nelems", -1, NULL},
    {"title.nelems", 100000, "title.value"},
    {"title.vpad", 255, NULL},
    {"vars.tag", 12, NULL},
    {"vars.count", 0x7fffffff, NULL},
    {"vars.count", -2, NULL},
    {"bytes.pad", 0x010000, NULL},
    {"doubl.name", 0x6279746573, NULL},
    {"bytes.ndims", -1, NULL},
    {"bytes.id0", 3, NULL},
    {"bytes.id0", -1, NULL},
    {"doubl.id0", 99, NULL},
    {"shor.id1", 0, NULL},
    {"bytes.tag", 9, NULL},
    {"units.type", 77, NULL},
    {"units.vpad", 0x0100, NULL},
    {"bytes.type", 13, NULL},
    {"doubl.type", 0, NULL},
    {"rec.type", -1, NULL},
    {"bytes.vsize", 5, NULL},
    {"shor.vsize", 0, NULL},
    {"rec.vsize", -4, NULL},
    {"bytes.begin", 4, NULL},
    {"bytes.begin", -8, NULL},
    {"shor.begin", 0, NULL},
};

/* Returns the file offset of a field, given as "LABEL" or "LABEL+N". */
static int place(const char *text)
{
    char label[32];
    int more = 0;
    sscanf(text, "%31[^+]+%d", label, &more);
    return find(label)->offset + more;
}

static void break_fields(void)
{
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char mistake[64];
        int64_t value = wrong[i].value;
        snprintf(mistake, sizeof mistake, "%s %lld", wrong[i].label, (long long)value);
        set(wrong[i].label, value);
        const char *at = wrong[i].at == NULL ? wrong[i].label : wrong[i].at;
        /* In CDF-2, a dimension may have any length, but a variable that is too large
         * because of it must be the last one. */
        if (format == 2 && strcmp(at, "lat.size") == 0 && value == -1) at = "bytes.vsize";
        broken(place(at), mistake);
    }
    set("doubl.begin", data + 4);
    broken(place("doubl.begin"), "doubl.begin overlaps");
    set("shor.begin", data + FIXED - 4);
    broken(place("shor.begin"), "shor.begin overlaps");
    set("rec.begin", data + FIXED + 8);
    broken(place("rec.begin"), "rec.begin overlaps");
    set("rec.begin", data + FIXED + 16);
    broken(place("rec.begin"), "rec.begin leaves a gap");
}

static void cut(int length, int offset, const char *mistake)
{
    used = length;
    broken(offset, mistake);
}

static void break_size(void)
{
    static const char *const at[] = {"dims.tag",    "lon.size", "title.nelems",
                                     "title.value", "vars.tag", "rec.ndims",
                                     "rec.id0",     "rec.vsize"};
    cut(0, 0, "empty");
    cut(3, 0, "no version");
    cut(6, 4, "cut in numrecs");
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        cut(place(at[i]) + 1, place(at[i]), at[i]);
    cut(data, data, "no data");
    cut(data + 9, data + 9, "cut in the fixed-size variables");
    cut(data + FIXED + 16, 4, "one record of three");
    cut(used - 1, 4, "the last byte is missing");
    file[0] = 'X';
    broken(0, "magic");
    file[3] = 4;
    broken(0, "version");
}

int main(int argc, char **argv)
{
    if (argc != 3) return 1;
    format = atoi(argv[1]);
    folder = argv[2];
    make_good();
    write_file("good.nc");
    break_fields();
    break_size();
    return 0;
}
