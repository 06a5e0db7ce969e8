/* How the processes of a dataset agree, and tell each other. */
#include "dataset.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base_mpi.h"
#include "trace_record.h"

/* ---- what is done before an agreement ----
 * Most jobs have no such duty, and look at one pointer. Threads in the background agree,
 * too: each does all there is to do, since what it tells may be of any file. */

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

static void do_duties(void)
{
    (void)pthread_mutex_lock(&duties_lock);
    for (struct dataset_duty *d = duties; d != NULL; d = d->next)
        d->settle(d->who);
    (void)pthread_mutex_unlock(&duties_lock);
}

int64_t dataset_agreements(void)
{
    return agreements;
}

/* ---- agreements ---- */

/* A process that is told of another's error knows no more of it. */
static int word_agreed(int error, int worst)
{
    if (error != NC_NOERR || worst == NC_NOERR) return worst;
    return base_error_set(worst, "met by another process, which has the details");
}

int dataset_agree_all(struct dataset *ds, int error, int *failed, int64_t *values, int n)
{
    /* Codes are negative, so the worst is the maximum of their opposites. */
    enum { ERRORS = 2, OWN = ERRORS + DATASET_WORDS };
    if (duties != NULL) do_duties(); /* which may leave an error in ds->failed */
    int64_t all[OWN + DATASET_AGREE_MAX] = {-error, -ds->failed};
    memcpy(all + ERRORS, ds->word, sizeof ds->word);
    for (int i = 0; i < n; i++)
        all[OWN + i] = values[i];

    struct trace_span span = trace_begin(ds->trace);
    ds->stats.agreements++;
    int mpi = MPI_SUCCESS;
    if (ds->nprocs > 1) /* a process by itself need not wait for MPI to find that out */
        mpi = MPI_Allreduce(MPI_IN_PLACE, all, OWN + n, MPI_INT64_T, MPI_MAX, ds->comm);
    agreements++;
    trace_end_numbered(ds->trace, TRACE_AGREEMENT, span, ds->stats.agreements);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "agreeing on a result");

    for (int i = 0; i < n; i++)
        values[i] = all[OWN + i];
    memcpy(ds->heard, all + ERRORS, sizeof ds->heard);
    if (failed != NULL) {
        *failed = (int)-all[1];
        ds->failures += *failed != NC_NOERR;
        ds->failed = NC_NOERR;
    }
    return word_agreed(error, (int)-all[0]);
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
    if (duties != NULL) do_duties();
    for (int64_t at = 0; at < n && mpi == MPI_SUCCESS; at += PIECE) {
        ds->stats.broadcasts++;
        mpi = MPI_Bcast((char *)bytes + at, (int)(n - at < PIECE ? n - at : PIECE),
                        MPI_BYTE, root, ds->comm);
    }
    agreements++;
    trace_end_numbered(ds->trace, TRACE_BROADCAST, span, ds->stats.broadcasts);
    return base_mpi_error(mpi, NC_EMPI, "telling the other processes");
}

int dataset_share_words_all(struct dataset *ds, int error, int own)
{
    char words[1024] = "";
    if (ds->rank == 0 && own == error)
        strncpy(words, base_error_detail(error), sizeof words - 1);
    int err = dataset_share_all(ds, words, sizeof words, 0);
    if (err != NC_NOERR || words[0] == '\0') return error;
    return base_error_set(error, "%s", words);
}

void dataset_hold_records(struct dataset *ds, int64_t records)
{
    if (records > ds->held) ds->held = records;
    if (records > ds->header.numrecs) ds->header.numrecs = records;
}
