/* Fuzz target for hints files, for libFuzzer and replay.c. Any bytes must result in an
 * error with a line and column, or in printable hints. Reported positions must be inside
 * the text, and the memory used must be bounded by the text's length. */
#include "cdf_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "hints_file.h"
#include "base_mem.h"
#include "pnetcdf_constants.h"

const char fuzz_corpus[] = "hints-corpus";

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                     \
        }                                                                                \
    } while (0)

struct text {
    const char *bytes;
    size_t length;
    int lines;
};

static bool printable(const char *words)
{
    for (; *words != '\0'; words++)
        if ((unsigned char)*words < ' ' || *words == 0x7f) return false;
    return true;
}

/* Checks that the position of a warning is inside the text, either at a member's name or
 * at an object. */
static void see_warning(const struct hints_file *f, struct hints_file_place place,
                        const char *words)
{
    const struct text *t = f->of;
    const char *line = t->bytes, *end = t->bytes + t->length;
    CHECK(place.line >= 1 && place.line <= t->lines && place.column >= 1);
    CHECK(*words != '\0' && printable(words));
    for (int i = 1; i < place.line; i++)
        line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
    for (int column = 1; line < end; line++)
        if ((*(const unsigned char *)line & 0xc0) != 0x80 && column++ == place.column)
            break;
    CHECK(line < end && (*line == '"' || *line == '{'));
}

static void check_refusal(const struct text *t, int err)
{
    int line, column;
    const char *words = base_error_detail(err);
    CHECK(err == NC_EINVAL);
    if (strstr(words, "without jansson") != NULL) return;
    CHECK(sscanf(words, "hints file input: line %d, column %d: ", &line, &column) == 2);
    CHECK(line >= 1 && line <= t->lines && column >= 1 && printable(words));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1); /* a copy, so that ASan can detect overruns */
    CHECK(bytes != NULL);
    memcpy(bytes, data, size);
    struct text t = {bytes, size, 1};
    for (size_t i = 0; i < size; i++)
        t.lines += bytes[i] == '\n';
    struct hints_file f = {.name = "input", .warn = see_warning, .of = &t};
    base_mem_reset_high_water();
    int err = hints_file_parse(&f, bytes, size);
    CHECK(base_mem_high_water() <= 64 * (int64_t)size + 65536);
    if (err != NC_NOERR) check_refusal(&t, err);
    for (int i = 0; err == NC_NOERR && i < f.nentries; i++) {
        const struct hints_file_entry *e = &f.entries[i];
        CHECK(e->path != NULL && *e->path != '\0');
        (void)hints_file_entry_matches(e, "/work/deep47/test_file");
        (void)hints_file_entry_matches(e, e->path);
        for (int k = 0; k < e->npairs; k++)
            CHECK(*e->pairs[k].key != '\0' && printable(e->pairs[k].key) &&
                  *e->pairs[k].value != '\0' && printable(e->pairs[k].value));
    }
    hints_file_free(&f);
    free(bytes);
    CHECK(base_mem_in_use() == 0);
    return 0;
}
