/* Sample input for collective.py, which must report the lines marked "found" and no
 * others. See collective.sh. This file is not compiled. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct dataset {
    MPI_Comm comm;
    int rank, nprocs;
    bool writable;
};

/* A dataset that a group of processes, or a single process, has open. */
struct blob_sub {
    struct dataset ds;
    bool defined;
};

int dataset_agree_all(struct dataset *ds, int error, int *failed, int64_t *values, int n)
{
    (void)failed;
    return MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, MPI_MAX, ds->comm) + error;
}

int early_return_all(struct dataset *ds)
{
    void *p = malloc(1);
    if (p == NULL) return 1;
    free(p);
    return MPI_Barrier(ds->comm); /* found */
}

int short_circuit_all(struct dataset *ds, MPI_File one, MPI_File other)
{
    int mpi = MPI_File_sync(one);
    if (mpi == MPI_SUCCESS && MPI_File_sync(other) != MPI_SUCCESS) mpi = 1; /* found */
    return ds->writable || MPI_Barrier(ds->comm) != MPI_SUCCESS ? mpi : 0;
}

int each_has_its_own_all(struct dataset *ds)
{
    int all = 0;
    for (int i = 0; i < ds->rank; i++)
        all += MPI_Barrier(ds->comm); /* found */
    for (int i = 0; i < ds->nprocs; i++)
        all += MPI_Barrier(ds->comm);
    return ds->rank == 0 ? MPI_Barrier(ds->comm) : all; /* found */
}

int after_break_all(struct dataset *ds)
{
    for (int i = 0; i < 10; i++) {
        void *p = malloc(1);
        MPI_Barrier(ds->comm); /* found */
        if (p == NULL) break;
        free(p);
    }
    return MPI_Barrier(ds->comm);
}

static int if_asked_all(struct dataset *ds, bool asked)
{
    return asked ? MPI_Barrier(ds->comm) : 0; /* found */
}

int by_an_argument_all(struct dataset *ds)
{
    (void)if_asked_all(ds, ds->nprocs > 1);
    return if_asked_all(ds, ds->rank > 1);
}

int agreed_all(struct dataset *ds)
{
    int64_t most = ds->rank;
    void *p = malloc(1);
    int err = dataset_agree_all(ds, p == NULL ? -1 : 0, NULL, &most, 1);
    if (err != 0 || p == NULL) return err;
    free(p);
    for (int64_t i = 0; i < most; i++)
        MPI_Barrier(ds->comm);
    return 0;
}

int group_all(struct blob_sub *s, int rank)
{
    void *p = malloc(1);
    if (s->defined) rank += dataset_agree_all(&s->ds, 0, NULL, NULL, 0);
    if (p == NULL) return rank;
    free(p);
    return dataset_agree_all(&s->ds, 0, NULL, NULL, 0); /* found */
}

int all_by_group_all(struct dataset *ds, struct blob_sub *s)
{
    int err = dataset_agree_all(&s->ds, 0, NULL, NULL, 0);
    return err == 0 ? dataset_agree_all(ds, err, NULL, NULL, 0) : err; /* found */
}

int group_not_named_so(struct blob_sub *s) /* found */
{
    return dataset_agree_all(&s->ds, 0, NULL, NULL, 0);
}

int part_alone(struct blob_sub *s)
{
    void *p = malloc(1);
    if (p == NULL) return 1;
    free(p);
    return dataset_agree_all(&s->ds, 0, NULL, NULL, 0);
}

int not_named_so(struct dataset *ds) /* found */
{
    return MPI_Barrier(ds->comm);
}

int nor_is_this_all(int a) /* found */
{
    return a;
}

/* Layers of drivers: a call through the macro may reach any function that is stored in
 * the slot. */
struct driver;
struct driver_ops {
    int (*sync_all)(struct driver *self, bool all);
};
struct driver {
    struct driver_ops ops;
    struct driver *at[1];
    struct dataset *ds;
};
#define driver_call(d, slot, ...) ((d)->ops.slot((d)->at[0], ##__VA_ARGS__))

static int sync_layer_all(struct driver *self, bool all)
{
    return all || self->ds->writable ? MPI_Barrier(self->ds->comm) : 0; /* found */
}

const struct driver_ops one_layer = {.sync_all = sync_layer_all};

int through_a_slot_all(struct driver *d)
{
    void *p = malloc(1);
    int err = driver_call(d, sync_all, true);
    err += driver_call(d, sync_all, d->ds->writable || p != NULL);
    if (p != NULL) err += driver_call(d, sync_all, true); /* found */
    free(p);
    return err;
}
