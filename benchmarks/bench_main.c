/* bench [options] [NAME | KEY=VALUE]... runs the named rows of the table in
 * bench_table.c, or all rows that run by default. This file parses the options: letters
 * apply to all benchmarks, and KEY=VALUE applies to a named one. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

void bench_stop(const char *what, const char *of)
{
    fprintf(stderr, "bench: %s: %s\n", of, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void bench_need(int err, const char *what)
{
    if (err != NC_NOERR) bench_stop(ncmpi_strerror(err), what);
}

void bench_need_mpi(int err, const char *what)
{
    if (err != MPI_SUCCESS) bench_stop("MPI failed", what);
}

void bench_need_system(bool good, const char *what)
{
    if (!good) bench_stop(strerror(errno), what);
}

void *bench_alloc(int64_t size)
{
    void *p = malloc(size > 0 ? (size_t)size : 1);
    if (p == NULL) bench_stop("out of memory", "malloc");
    return p;
}

/* Doubles the allocation whenever `count` is a power of two, so the capacity does not
 * have to be stored. */
void *bench_grow(void *old, int64_t count, int64_t size)
{
    if ((count & (count - 1)) != 0) return old;
    void *p = realloc(old, (size_t)((count > 0 ? 2 * count : 1) * size));
    if (p == NULL) bench_stop("out of memory", "realloc");
    return p;
}

int64_t bench_at_most(const struct bench *b, int64_t n)
{
    return n < b->options.most ? n : b->options.most;
}

/* An option without a value is a bool, one with a unit an int64_t, and others are text.
 */
static const struct letter {
    char letter;
    size_t offset; /* offset of the member in struct bench_options */
    int unit;
    const char *value, *about;
} letters[] = {
#define MEMBER(name) offsetof(struct bench_options, name)
    {'d', MEMBER(dir), 0, "DIR", "directory for the files (default .)"},
    {'b', MEMBER(bytes), 1 << 20, "MIB",
     "approximate amount per process and repetition (default 64)"},
    {'n', MEMBER(most), 1, "N", "at most N names, segments or calls (default 1000000)"},
    {'r', MEMBER(reps), 1, "N", "number of repetitions after the warm-up (default 5)"},
    {'t', MEMBER(seconds), 1, "SEC", "start no repetition after SEC seconds"},
    {'m', MEMBER(maps), 0, "DIR",
     "directory of the model's decompositions, map_*_case_16p.nc"},
    {'o', MEMBER(file), 0, "FILE", "put the values once, into FILE, without timing"},
    {'k', MEMBER(keep), 0, NULL,
     "do not close a new file between its definitions and values"},
    {'y', MEMBER(sync), 0, NULL, "include the sync to the device in the time of a put"},
    {'a', MEMBER(alone), 0, NULL, "measure only the library, not system calls"},
    {'i', MEMBER(view), 0, NULL, "also measure MPI-IO with a file view"},
    {'5', MEMBER(hdf5), 0, NULL, "also measure parallel HDF5 (make bench-hdf5)"},
    {'f', MEMBER(files), 0, NULL,
     "also measure system calls with a file for each process"},
    {'g', MEMBER(other), 0, NULL, "also get the values with a different decomposition"},
    {'e', MEMBER(leave), 0, NULL, "do not delete the last dataset"},
    {'c', MEMBER(stats), 0, NULL, "also print the library's statistics, if it has any"},
    {'x', MEMBER(spoil), 0, NULL, "damage each file before it is verified (must fail)"},
    {'l', MEMBER(list), 0, NULL, "list the benchmarks, or the options of those named"},
    {'v', MEMBER(versions), 0, NULL, "print the versions of the library and of MPI"},
    {'h', MEMBER(help), 0, NULL, "print this text"},
};
enum { LETTERS = sizeof letters / sizeof letters[0] };

static void usage(FILE *out)
{
    fputs("usage: bench [options] [NAME | KEY=VALUE]...\n", out);
    for (int i = 0; i < LETTERS; i++)
        fprintf(out, "  -%c %-6s %s\n", letters[i].letter,
                letters[i].value != NULL ? letters[i].value : "", letters[i].about);
}

double bench_number(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || value < 0) bench_stop("not a number", text);
    return value;
}

static void parse_letter(struct bench *b, int c)
{
    const struct letter *l = letters;
    while (l < letters + LETTERS && l->letter != c)
        l++;
    if (l == letters + LETTERS) {
        if (b->rank == 0) usage(stderr);
        bench_stop("bad option", "bench");
    }
    char *member = (char *)&b->options + l->offset;
    if (l->value == NULL)
        *(bool *)member = true;
    else if (l->unit > 0)
        *(int64_t *)member = (int64_t)(bench_number(optarg) * l->unit);
    else
        *(const char **)member = optarg;
}

static void parse(struct bench *b, int argc, char **argv)
{
    char known[2 * LETTERS + 1], *at = known;
    b->options =
        (struct bench_options){.dir = ".", .bytes = 64 << 20, .most = 1000000, .reps = 5};
    for (int i = 0; i < LETTERS; i++) {
        *at++ = letters[i].letter;
        if (letters[i].value != NULL) *at++ = ':';
    }
    *at = '\0';
    for (int c; (c = getopt(argc, argv, known)) != -1;)
        parse_letter(b, c);
    b->nwords = argc - optind;
    b->words = argv + optind;
}

/* Returns the value of the option if `word` is KEY=VALUE, and NULL otherwise. */
static const char *value_of(const char *word, const char *key)
{
    size_t n = strlen(key);
    return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

const char *bench_option(const struct bench *b, const char *key)
{
    for (int i = b->nwords - 1; i >= 0; i--)
        if (value_of(b->words[i], key) != NULL) return value_of(b->words[i], key);
    const struct bench_option *o = b->row->options;
    while (o != NULL && o->key != NULL && strcmp(o->key, key) != 0)
        o++;
    if (o == NULL || o->key == NULL) bench_stop("no such option", key);
    return o == NULL ? NULL : o->value;
}

bool bench_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '\0')) return true;
    }
    return false;
}

static bool is_chosen(const struct bench *b, const struct bench_row *row)
{
    bool any = false;
    for (int i = 0; i < b->nwords; i++) {
        if (strcmp(b->words[i], row->name) == 0) return true;
        any = any || strchr(b->words[i], '=') == NULL;
    }
    return !any && !row->named;
}

/* Returns whether a row has this name, or a chosen row has this option. */
static bool is_known(const struct bench *b, const char *word)
{
    for (const struct bench_row *row = bench_table; row->name != NULL; row++) {
        if (strcmp(word, row->name) == 0) return true;
        const struct bench_option *o = is_chosen(b, row) ? row->options : NULL;
        for (; o != NULL && o->key != NULL; o++)
            if (value_of(word, o->key) != NULL) return true;
    }
    return false;
}

/* Prints the rows that run by default, an empty line, and the rows that must be named. */
static void list(const struct bench *b)
{
    bool named = false;
    for (const struct bench_row *row = bench_table; row->name != NULL; row++) {
        if (b->nwords > 0 && !is_chosen(b, row)) continue;
        if (b->nwords == 0 && row->named && !named) putchar('\n');
        named = row->named;
        printf("%-22s %s%s\n", row->name, row->about,
               row->plan == NULL && row->run == NULL ? " (needs ncmpi)" : "");
        const struct bench_option *o = b->nwords > 0 ? row->options : NULL;
        for (; o != NULL && o->key != NULL; o++)
            printf("    %s=%s: %s\n", o->key, o->value, o->about);
    }
}

static void versions(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    bench_need_mpi(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
    text[strcspn(text, "\n,")] = '\0';
    printf("%s; %s\n", ncmpi_inq_libvers(), text);
}

/* Chooses the file names. All processes use the names that process 0 chose. */
static void name_files(struct bench *b)
{
    int pid = (int)getpid();
    bench_need_mpi(MPI_Bcast(&pid, 1, MPI_INT, 0, b->comm), "MPI_Bcast");
    const char *own = b->options.file;
    int n = own == NULL
                ? snprintf(b->file, sizeof b->file, "%s/bench-%d.nc", b->options.dir, pid)
                : snprintf(b->file, sizeof b->file, "%s", own);
    int m = snprintf(b->raw, sizeof b->raw, "%s/bench-%d.raw", b->options.dir, pid);
    if (n >= (int)sizeof b->file || m >= (int)sizeof b->raw)
        bench_stop("path too long", b->options.dir);
}

static void run(struct bench *b, const struct bench_row *row)
{
    b->row = row;
    if (row->plan == NULL && row->run == NULL) {
        if (b->rank == 0) fprintf(stderr, "bench: %s: needs ncmpi\n", row->name);
    } else if (row->run != NULL) {
        row->run(b);
    } else if (b->options.file != NULL) {
        bench_leave(b);
    } else {
        bench_data(b);
    }
    if (b->options.leave) return;
    bench_remove(b, b->file);
    bench_remove(b, b->raw);
}

static void run_all(struct bench *b)
{
    int chosen = 0;
    for (int i = 0; i < b->nwords; i++)
        if (!is_known(b, b->words[i]))
            bench_stop("no such benchmark or option (try bench -l)", b->words[i]);
    for (const struct bench_row *row = bench_table; row->name != NULL; row++)
        chosen += is_chosen(b, row);
    if (b->options.file != NULL) {
        if (chosen != 1) bench_stop("takes one benchmark", "-o");
        b->options.leave = true;
        b->options.reps = 0;
    }
    name_files(b);
    for (const struct bench_row *row = bench_table; row->name != NULL; row++)
        if (is_chosen(b, row)) run(b, row);
}

int main(int argc, char **argv)
{
    struct bench b = {.comm = MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(b.comm, &b.rank);
    MPI_Comm_size(b.comm, &b.nprocs);
    parse(&b, argc, argv);
    if (!b.options.help && !b.options.versions && !b.options.list)
        run_all(&b);
    else if (b.rank == 0)
        b.options.help ? usage(stdout) : b.options.versions ? versions() : list(&b);
    MPI_Finalize();
    return 0;
}
