/* The counterpart of f77_twin.f: writes the same file in C. */
#include "f77_helper.h"

#include <stdio.h>

struct twin {
    int ncid, grid, grows, words;
};

static int define(struct twin *f, int nprocs)
{
    int dims[3]; /* time, y, x */
    float limits[2] = {-1.5f, 99.0f};
    int err = ncmpi_def_dim(f->ncid, "x", 4, &dims[2]);
    if (!err) err = ncmpi_def_dim(f->ncid, "y", 3 * (MPI_Offset)nprocs, &dims[1]);
    if (!err) err = ncmpi_def_dim(f->ncid, "time", NC_UNLIMITED, &dims[0]);
    if (!err) err = ncmpi_def_var(f->ncid, "grid", NC_DOUBLE, 2, dims + 1, &f->grid);
    if (!err) err = ncmpi_def_var(f->ncid, "grows", NC_SHORT, 3, dims, &f->grows);
    if (!err) err = ncmpi_def_var(f->ncid, "words", NC_CHAR, 2, dims + 1, &f->words);
    if (!err) err = ncmpi_put_att_text(f->ncid, NC_GLOBAL, "title", 8, "the same");
    if (!err) err = ncmpi_put_att_float(f->ncid, f->grid, "range", NC_FLOAT, 2, limits);
    return err ? err : ncmpi_enddef(f->ncid);
}

static int write_grid(const struct twin *f, int rank)
{
    double field[3][4];
    MPI_Offset start[2] = {3 * (MPI_Offset)rank, 0}, count[2] = {3, 4};
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 4; i++)
            field[j][i] = i + 1 + 10 * (3 * rank + j + 1) + 0.25;
    return ncmpi_put_vara_double_all(f->ncid, f->grid, start, count, field[0]);
}

static int write_record(const struct twin *f, int rank, int r)
{
    short record[3][4];
    MPI_Offset start[3] = {r - 1, 3 * (MPI_Offset)rank, 0}, count[3] = {1, 3, 4};
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 4; i++)
            record[j][i] = (short)(100 * r + 10 * (3 * rank + j + 1) + i + 1);
    return ncmpi_put_vara_short_all(f->ncid, f->grows, start, count, record[0]);
}

static int write_word(const struct twin *f, int rank, int j)
{
    char word[8];
    MPI_Offset start[2] = {3 * (MPI_Offset)rank + j, 0}, count[2] = {1, 4};
    snprintf(word, sizeof word, "ord%d", j + 1);
    return ncmpi_put_vara_text_all(f->ncid, f->words, start, count, word);
}

int F77_NAME(helper_twin_file, HELPER_TWIN_FILE)(const char *text, const int *cmode,
                                                 F77_STRLEN len)
{
    struct twin f;
    char path[512];
    int rank, nprocs, n = (int)len;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    snprintf(path, sizeof path, "%.*s", n, text);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    int err = ncmpi_create(MPI_COMM_WORLD, path, *cmode, MPI_INFO_NULL, &f.ncid);
    if (err) return err;
    err = define(&f, nprocs);
    if (!err) err = write_grid(&f, rank);
    for (int r = 1; !err && r <= 2; r++)
        err = write_record(&f, rank, r);
    for (int j = 0; !err && j < 3; j++)
        err = write_word(&f, rank, j);
    int closed = ncmpi_close(f.ncid);
    return err ? err : closed;
}
