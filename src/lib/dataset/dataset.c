/* Implements agreements and broadcasts among the processes of a dataset, and the duties
 * that each process performs before an agreement. */
#include "dataset.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base_mpi.h"
#include "trace_record.h"

/* ---- duties before an agreement ---- Most jobs have no duties, and then this costs only
 * the test of a pointer. Background threads also join agreements. Each performs all
 * duties, because its agreement may concern any file. */

static pthread_mutex_t duties_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dataset_duty *_Atomic duties;
static _Atomic int64_t agreements;

void dataset_add_duty(struct dataset_duty *d)
{
    (void)pthread_mutex_lock(&duties_lock);
    d->next = duties;
    duties = d;
    (void)pthread_mutex_unlock(&duties_lock);
}

void dataset_drop_duty(struct dataset_duty *d)
{
    (void)pthread_mutex_lock(&duties_lock);
    struct dataset_duty *first = duties;
    if (first == d) {
        duties = d->next;
    } else {
        while (first != NULL && first->next != d)
            first = first->next;
        if (first != NULL) first->next = d->next;
    }
    (void)pthread_mutex_unlock(&duties_lock);
}

static void run_duties(void)
{
    (void)pthread_mutex_lock(&duties_lock);
    for (struct dataset_duty *d = duties; d != NULL; d = d->next)
        d->run(d->arg);
    (void)pthread_mutex_unlock(&duties_lock);
}

int64_t dataset_agreements(void)
{
    return agreements;
}

/* ---- agreements ---- */

/* Sets a message for an error that occurred only in other processes. */
static int add_remote_message(int error, int worst)
{
    if (error != NC_NOERR || worst == NC_NOERR) return worst;
    return base_error_set(worst, DATASET_REPORTED_ELSEWHERE);
}

/* Returns whether an error is a failure of the file or the system, not a refusal. */
static bool is_failure(int error)
{
    static const int codes[] = {NC_EFILE,     NC_EREAD,   NC_EWRITE,   NC_EIO,
                                NC_ENO_SPACE, NC_EQUOTA,  NC_ENOMEM,   NC_EACCESS,
                                NC_EMPI,      NC_EBADLOG, NC_EINTERNAL};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] == error) return true;
    return false;
}

int dataset_agree_all(struct dataset *ds, int error, int *failed, int64_t *values, int n)
{
    /* Codes are negative, so the worst error is the maximum of the negated codes. */
    enum { ERRORS = 2, OWN = ERRORS + DATASET_SLOTS };
    if (duties != NULL) run_duties(); /* may set ds->failed */
    int64_t all[OWN + DATASET_AGREE_MAX] = {-error, -ds->failed};
    memcpy(all + ERRORS, ds->slots, sizeof ds->slots);
    for (int i = 0; i < n; i++)
        all[OWN + i] = values[i];

    struct trace_span span = trace_begin(ds->trace);
    ds->stats.agreements++;
    int mpi = MPI_SUCCESS;
    if (ds->nprocs > 1) /* a single process needs no call to MPI */
        mpi = MPI_Allreduce(MPI_IN_PLACE, all, OWN + n, MPI_INT64_T, MPI_MAX, ds->comm);
    agreements++;
    trace_end_numbered(ds->trace, TRACE_AGREEMENT, span, ds->stats.agreements);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "agreeing on a result");

    for (int i = 0; i < n; i++)
        values[i] = all[OWN + i];
    memcpy(ds->agreed_slots, all + ERRORS, sizeof ds->agreed_slots);
    if (failed != NULL) {
        *failed = (int)-all[1];
        ds->failures += *failed != NC_NOERR;
        ds->failed = NC_NOERR;
        /* If this call refuses the process's own arguments instead, the next agreement
         * reports the earlier error once more. */
        if (base_error_merge(error, *failed) != *failed && !is_failure(error))
            dataset_defer_error(ds, *failed);
    }
    return add_remote_message(error, (int)-all[0]);
}

int dataset_concur_all(struct dataset *ds, int error, int *failed, int64_t *values, int n)
{
    int worst = dataset_agree_all(ds, error, failed, values, n);
    return error != NC_NOERR ? error : worst;
}

int dataset_share_all(struct dataset *ds, void *bytes, int64_t n, int root)
{
    enum { PIECE = 1 << 30 }; /* MPI messages stay under 2^31 bytes */
    int mpi = MPI_SUCCESS;
    struct trace_span span = trace_begin(ds->trace);
    if (duties != NULL) run_duties();
    for (int64_t at = 0; at < n && mpi == MPI_SUCCESS; at += PIECE) {
        ds->stats.broadcasts++;
        mpi = MPI_Bcast((char *)bytes + at, (int)(n - at < PIECE ? n - at : PIECE),
                        MPI_BYTE, root, ds->comm);
    }
    agreements++;
    trace_end_numbered(ds->trace, TRACE_BROADCAST, span, ds->stats.broadcasts);
    return base_mpi_error(mpi, NC_EMPI, "notifying the other processes");
}

int dataset_share_message_all(struct dataset *ds, int error, int own)
{
    char words[1024] = "";
    if (ds->rank == 0 && own == error)
        strncpy(words, base_error_detail(error), sizeof words - 1);
    int err = dataset_share_all(ds, words, sizeof words, 0);
    if (err != NC_NOERR || words[0] == '\0') return error;
    return base_error_set(error, "%s", words);
}

int dataset_share_result_all(struct dataset *ds, int result)
{
    int err = dataset_share_all(ds, &result, sizeof result, 0);
    if (err != NC_NOERR || result == NC_NOERR) return err;
    return dataset_share_message_all(ds, result, result);
}

void dataset_raise_records(struct dataset *ds, int64_t records)
{
    if (records > ds->numrecs_seen) ds->numrecs_seen = records;
    if (records > ds->header.numrecs) ds->header.numrecs = records;
}
