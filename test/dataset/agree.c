/* Tests agreements among processes: which error each process gets, when an error that was
 * recorded earlier is reported, and that values and broadcast bytes arrive unchanged. */
#include "dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static struct dataset ds;

static void new_dataset(void)
{
    memset(&ds, 0, sizeof ds);
    ds.comm = MPI_COMM_WORLD;
    ds.rank = check.rank;
    ds.nprocs = check.nprocs;
    ds.violations = base_violations();
}

static int last(void)
{
    return check.nprocs - 1;
}

/* ---- errors ---- */

static void the_worst_error_is_agreed_on(void)
{
    static const int errors[][2] = {/* of the first and of the last process */
                                    {NC_NOERR, NC_NOERR},
                                    {NC_EREAD, NC_NOERR},
                                    {NC_NOERR, NC_EREAD},
                                    {NC_ERANGE, NC_EREAD},
                                    {NC_EINVALCOORDS, NC_EINTERNAL}};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        const int *e = errors[i];
        new_dataset();
        int mine = check.rank == last() ? e[1] : check.rank == 0 ? e[0] : NC_NOERR;
        if (check.nprocs == 1) mine = e[1];
        int worst = check.nprocs > 1 && e[0] < e[1] ? e[0] : e[1];
        if (mine != NC_NOERR) base_error_set(mine, "detail of process %d", check.rank);
        CHECK_NC(worst, dataset_agree_all(&ds, mine, NULL, NULL, 0));
        const char *detail = mine == NC_NOERR ? "reported by another" : "detail of";
        if (worst != NC_NOERR && (mine == NC_NOERR || mine == worst))
            CHECK(strstr(base_error_detail(worst), detail) != NULL);
        CHECK_NC(mine != NC_NOERR ? mine : worst,
                 dataset_concur_all(&ds, mine, NULL, NULL, 0));
        CHECK_EQ(2, ds.stats.agreements);
    }
}

/* A process with an error of its own arguments does not learn of the recorded error, so
 * the next agreement reports it again. A failure of its file takes precedence for good.
 */
static void a_recorded_error_is_reported_until_everybody_knows(void)
{
    static const struct {
        int own; /* error of process 0 in the call */
        bool again;
    } rows[] = {{NC_NOERR, false},  {NC_EINVALCOORDS, true}, {NC_ERANGE, false},
                {NC_EWRITE, false}, {NC_ENOMEM, false},      {NC_EBADTYPE, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int failed = 1;
        new_dataset();
        if (check.rank == last()) {
            dataset_defer_error(&ds, NC_ENO_SPACE);
            dataset_defer_error(&ds, NC_EREAD); /* the earlier error remains */
        }
        int mine = check.rank == 0 ? rows[i].own : NC_NOERR;
        CHECK_NC(rows[i].own, dataset_agree_all(&ds, mine, NULL, NULL, 0));
        CHECK_NC(check.rank == last() ? NC_ENO_SPACE : NC_NOERR, ds.failed);
        CHECK_NC(rows[i].own, dataset_agree_all(&ds, mine, &failed, NULL, 0));
        CHECK_NC(NC_ENO_SPACE, failed);
        CHECK_EQ(1, ds.failures);
        CHECK_NC(NC_NOERR, dataset_agree_all(&ds, NC_NOERR, &failed, NULL, 0));
        CHECK_NC(rows[i].again ? NC_ENO_SPACE : NC_NOERR, failed);
        CHECK_NC(NC_NOERR, dataset_agree_all(&ds, NC_NOERR, &failed, NULL, 0));
        CHECK_NC(NC_NOERR, failed);
        CHECK_EQ(1 + rows[i].again, ds.failures);
    }
}

/* ---- values ---- */

static void the_largest_values_are_agreed_on(void)
{
    static const int64_t extremes[] = {INT64_MAX,
                                       INT64_MIN + 1,
                                       -1,
                                       0,
                                       INT64_C(1) << 31,
                                       -(INT64_C(1) << 31),
                                       INT64_C(0x123456789abcdef0)};
    for (int n = 0; n <= DATASET_AGREE_MAX; n++) {
        int64_t values[DATASET_AGREE_MAX + 1], slots[DATASET_SLOTS], at;
        new_dataset();
        for (int i = 0; i <= DATASET_AGREE_MAX; i++) {
            at = extremes[i % 7];
            values[i] = check.rank == i % check.nprocs || i >= n ? at : INT64_MIN + 1;
        }
        for (int i = 0; i < DATASET_SLOTS; i++) {
            slots[i] = extremes[(i + n) % 7];
            ds.slots[i] = check.rank == (i + n) % check.nprocs ? slots[i] : INT64_MIN + 1;
        }
        CHECK_NC(NC_NOERR, dataset_agree_all(&ds, NC_NOERR, NULL, values, n));
        for (int i = 0; i <= DATASET_AGREE_MAX; i++)
            CHECK_EQ(extremes[i % 7], values[i]);
        CHECK_BYTES(slots, ds.agreed_slots, sizeof slots);
    }
}

static void broadcasts_change_no_byte(void)
{
    static const int64_t sizes[] = {0, 1, 7, 4096, (1 << 20) + 3};
    enum { MOST = (1 << 20) + 4 };
    unsigned char *bytes = malloc(MOST), *want = malloc(MOST);
    new_dataset();
    for (int root = 0; root < check.nprocs; root++)
        for (int i = 0; i < 5; i++) {
            for (int k = 0; k < MOST; k++) {
                want[k] = (unsigned char)check_random(256);
                bytes[k] = check.rank == root || k >= sizes[i] ? want[k] : 0x5A;
            }
            int64_t before = dataset_agreements();
            CHECK_NC(NC_NOERR, dataset_share_all(&ds, bytes, sizes[i], root));
            CHECK_BYTES(want, bytes, MOST);
            CHECK_EQ(before + 1, dataset_agreements());
        }
    free(bytes);
    free(want);
}

static void process_0_explains_its_error(void)
{
    new_dataset();
    for (int other = 0; other < 2; other++) {
        int rc = check.rank == 0 ? NC_EREAD : other ? NC_EWRITE : NC_NOERR;
        base_error_set(rc == NC_NOERR ? NC_EREAD : rc, "of process %d", check.rank);
        CHECK_NC(NC_EREAD, dataset_share_result_all(&ds, rc));
        CHECK_STR("of process 0", base_error_detail(NC_EREAD));
    }
    CHECK_NC(NC_NOERR, dataset_share_result_all(&ds, check.rank == 0 ? 0 : NC_EREAD));
    base_error_set(NC_EWRITE, "own of %d", check.rank);
    /* The error is not process 0's own, so it has nothing to explain. */
    CHECK_NC(NC_EWRITE, dataset_share_message_all(&ds, NC_EWRITE, NC_NOERR));
    char text[20];
    snprintf(text, sizeof text, "own of %d", check.rank);
    CHECK_STR(text, base_error_detail(NC_EWRITE));
}

/* ---- local state ---- */

static char log_of_duties[8];

static void note_duty(void *arg)
{
    strcat(log_of_duties, arg);
}

/* Runs agreements while duties are added, and dropped in every order. */
static void duties_run_before_each_agreement(void)
{
    static const char *const orders[] = {"abc", "acb", "bac", "bca", "cab", "cba"};
    for (int i = 0; i < 6; i++) {
        struct dataset_duty d[3];
        char left[] = "cba"; /* the latest duty runs first */
        new_dataset();
        for (int k = 0; k < 3; k++) {
            d[k] = (struct dataset_duty){.run = note_duty, .arg = &"a\0b\0c"[2 * k]};
            dataset_add_duty(&d[k]);
        }
        for (const char *next = orders[i];; next++) {
            log_of_duties[0] = '\0';
            CHECK_NC(NC_NOERR, dataset_agree_all(&ds, NC_NOERR, NULL, NULL, 0));
            CHECK_STR(left, log_of_duties);
            if (*next == '\0') break;
            char *gone = strchr(left, *next);
            memmove(gone, gone + 1, strlen(gone));
            dataset_drop_duty(&d[*next - 'a']);
            dataset_drop_duty(&d[*next - 'a']); /* no longer in the list */
        }
    }
}

static int refuse(void *arg)
{
    return *(int *)arg;
}

static void writes_need_permission_and_sound_state(void)
{
    int answer = NC_EFILE;
    new_dataset();
    CHECK_NC(NC_NOERR, dataset_may_write(&ds));
    ds.may_write = refuse;
    ds.may_write_arg = &answer;
    CHECK_NC(NC_EFILE, dataset_may_write(&ds));
    answer = NC_NOERR;
    CHECK_NC(NC_NOERR, dataset_may_write(&ds));
    ds.violations--; /* an invariant has been violated since */
    CHECK_NC(NC_EINTERNAL, dataset_may_write(&ds));
    ds.may_write = NULL;
    CHECK_NC(NC_EINTERNAL, dataset_is_sound(&ds));
}

static void the_number_of_records_only_grows(void)
{
    static const int64_t rows[][3] = {/* argument; numrecs_seen and numrecs afterwards */
                                      {3, 5, 4},
                                      {4, 5, 4},
                                      {5, 5, 5},
                                      {6, 6, 6},
                                      {INT64_MAX, INT64_MAX, INT64_MAX}};
    new_dataset();
    ds.numrecs_seen = 5;
    ds.header.numrecs = 4;
    for (int i = 0; i < 5; i++) {
        dataset_raise_records(&ds, rows[i][0]);
        CHECK_EQ(rows[i][1], ds.numrecs_seen);
        CHECK_EQ(rows[i][2], ds.header.numrecs);
    }
}

static const struct check_test tests[] = {
    {"the worst error is agreed on", the_worst_error_is_agreed_on, 0},
    {"a recorded error is reported until everybody knows",
     a_recorded_error_is_reported_until_everybody_knows, CHECK_SEVERAL},
    {"the largest values are agreed on", the_largest_values_are_agreed_on, 0},
    {"broadcasts change no byte", broadcasts_change_no_byte, 0},
    {"process 0 explains its error", process_0_explains_its_error, 0},
    {"duties run before each agreement", duties_run_before_each_agreement, 0},
    {"writes need permission and sound state", writes_need_permission_and_sound_state, 0},
    {"the number of records only grows", the_number_of_records_only_grows, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
