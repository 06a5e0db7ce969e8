/* Tests whether an owner's record identifies the process that made it: while the process
 * lives, is stopped or is a zombie, after it is gone, after its number went to another
 * process, and from a host with the same name or boot id. The processes are real. */
#define _GNU_SOURCE
#include "unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base_owner.h"

/* Starts a process that records itself in *o and then waits to be killed. `name` is its
 * name in /proc. */
static pid_t start_owner(const char *name, struct base_owner *o)
{
    unsigned char bytes[BASE_OWNER_BYTES];
    int ends[2];
    assert_int_equal(0, pipe(ends));
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_NAME, name);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        base_owner_set(o);
        base_owner_encode(o, bytes);
        if (write(ends[1], bytes, sizeof bytes) != sizeof bytes) _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(sizeof bytes, read(ends[0], bytes, sizeof bytes));
    base_owner_decode(o, bytes);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void await(pid_t pid, int options)
{
    siginfo_t info;
    assert_int_equal(0, waitid(P_PID, (id_t)pid, &info, options));
}

static void an_owner_is_alive_until_it_dies(void **state)
{
    static const char *const names[] = {"owner", "a) Z 1 (", ") X 0 0 0 0 0"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct base_owner o, here;
        pid_t pid = start_owner(names[i], &o);
        base_owner_set(&here);
        assert_int_equal(pid, o.pid);
        assert_true(o.boot == here.boot && o.started >= here.started);
        assert_int_equal(BASE_ALIVE, base_owner_alive(&o));
        assert_false(base_owner_is_self(&o));
        assert_int_equal(0, kill(pid, SIGSTOP));
        await(pid, WSTOPPED | WNOWAIT);
        assert_int_equal(BASE_ALIVE, base_owner_alive(&o));
        assert_int_equal(0, kill(pid, SIGKILL));
        await(pid, WEXITED | WNOWAIT);
        assert_int_equal(BASE_DEAD, base_owner_alive(&o)); /* a zombie */
        await(pid, WEXITED);
        assert_int_equal(BASE_DEAD, base_owner_alive(&o));
    }
}

static void a_child_is_not_its_parent(void **state)
{
    struct base_owner o;
    int status;
    (void)state;
    base_owner_set(&o);
    assert_true(base_owner_is_self(&o));
    pid_t pid = fork();
    if (pid == 0) _exit(base_owner_is_self(&o) || base_owner_alive(&o) != BASE_ALIVE);
    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_int_equal(0, status);
}

/* Changes fields of a live process's record. */
static void a_record_of_another_process_is_not_alive(void **state)
{
    enum { KEEP = -7 };
    const int64_t beyond = INT64_C(1) << 32;
    const struct {
        int64_t boot, pid, started; /* what is added to the field */
        const char *host;           /* what is appended to the name */
        int64_t set_pid, set_started;
        enum base_alive alive;
    } rows[] = {
        {0, 0, 0, "", KEEP, KEEP, BASE_ALIVE},
        {0, 0, 0, "", KEEP, 0, BASE_ALIVE}, /* start unknown */
        {0, 0, 1, "", KEEP, KEEP, BASE_DEAD},
        {0, 0, -1, "", KEEP, KEEP, BASE_DEAD},
        {0, 0, beyond, "", KEEP, KEEP, BASE_DEAD},
        {0, 0, 0, "", KEEP, INT64_MAX, BASE_DEAD},
        {0, 0, 0, "", 0, KEEP, BASE_DEAD},
        {0, 0, 0, "", -1, 0, BASE_DEAD}, /* kill(-1) would reach every process */
        {0, 0, 0, "", INT64_MIN, 0, BASE_DEAD},
        {0, 0, 0, "", INT64_MAX, 0, BASE_DEAD},
        {0, 0, 0, "", beyond, 0, BASE_DEAD},
        {0, beyond, 0, "", KEEP, KEEP, BASE_DEAD}, /* the low half is our number */
        {0, beyond, 0, "", KEEP, 0, BASE_DEAD},
        {1, 0, 0, "", KEEP, KEEP, BASE_ELSEWHERE},  /* a host with the same name */
        {0, 0, 0, "x", KEEP, KEEP, BASE_ELSEWHERE}, /* a container: the same boot id */
        {0, 0, 1, "x", KEEP, KEEP, BASE_ELSEWHERE},
        {beyond, 0, 0, "x", 0, 0, BASE_ELSEWHERE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct base_owner o;
        base_owner_set(&o);
        o.boot += (uint64_t)rows[i].boot;
        o.pid = rows[i].set_pid == KEEP ? o.pid + rows[i].pid : rows[i].set_pid;
        o.started = rows[i].set_started == KEEP ? o.started + (uint64_t)rows[i].started
                                                : (uint64_t)rows[i].set_started;
        o.host[sizeof o.host - 2] = '\0';
        strcat(o.host, rows[i].host);
        assert_int_equal(rows[i].alive, base_owner_alive(&o));
        assert_int_equal(rows[i].alive == BASE_ALIVE, base_owner_is_self(&o));
    }
}

/* Process numbers and clocks of a parent and a child differ only a little. */
static void nonces_never_repeat(void **state)
{
    enum { EACH = 3000 };
    static uint64_t nonces[2 * EACH];
    int ends[2];
    (void)state;
    assert_int_equal(0, pipe(ends));
    pid_t pid = fork();
    for (int i = 0; i < EACH; i++)
        nonces[i] = base_owner_new_nonce();
    if (pid == 0) {
        for (int i = 0; i < EACH; i++)
            if (write(ends[1], &nonces[i], sizeof nonces[i]) < 0) _exit(1);
        _exit(0);
    }
    for (int i = EACH; i < 2 * EACH; i++)
        assert_int_equal(8, read(ends[0], &nonces[i], sizeof nonces[i]));
    await(pid, WEXITED);
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 2 * EACH; i++) {
        assert_true(nonces[i] != 0);
        for (int k = 0; k < i; k++)
            assert_true(nonces[i] != nonces[k]);
    }
}

static void a_record_is_encoded_as_documented(void **state)
{
    enum { NUMBERS = 64 };
    unsigned char bytes[BASE_OWNER_BYTES], again[BASE_OWNER_BYTES];
    struct base_owner o;
    (void)state;
    for (int i = 0; i < BASE_OWNER_BYTES; i++)
        bytes[i] = (unsigned char)(i < 63 ? '!' + i : i == 63 ? 0 : 0x80 + i - NUMBERS);
    memset(bytes + NUMBERS + 40, 0, BASE_OWNER_BYTES - NUMBERS - 40);
    base_owner_decode(&o, bytes);
    assert_memory_equal(bytes, o.host, sizeof o.host);
    assert_true(o.boot == UINT64_C(0x8081828384858687));
    assert_true(o.started == UINT64_C(0x88898a8b8c8d8e8f));
    assert_true((uint64_t)o.pid == UINT64_C(0x9091929394959697));
    assert_true((uint64_t)o.since == UINT64_C(0x98999a9b9c9d9e9f));
    assert_true(o.nonce == UINT64_C(0xa0a1a2a3a4a5a6a7));
    base_owner_encode(&o, again);
    assert_memory_equal(bytes, again, sizeof bytes);
}

/* The bytes may come from a damaged file, and names are printed. */
static void any_bytes_yield_a_printable_name(void **state)
{
    unsigned char bytes[BASE_OWNER_BYTES];
    struct base_owner o;
    (void)state;
    for (int first = 0; first < 256; first++) {
        for (int i = 0; i < BASE_OWNER_BYTES; i++)
            bytes[i] = (unsigned char)(first + i);
        base_owner_decode(&o, bytes);
        bool ended = false;
        for (int i = 0; i < 63; i++) {
            ended = ended || bytes[i] == 0;
            bool prints = bytes[i] > ' ' && bytes[i] < 0x7f;
            if (!ended) assert_int_equal(prints ? bytes[i] : '?', o.host[i]);
            if (bytes[i] == 0) assert_int_equal(0, o.host[i]);
        }
        assert_int_equal(0, o.host[63]);
    }
}

static void a_description_names_the_process(void **state)
{
    static const struct {
        int64_t pid, since;
        const char *text;
    } rows[] = {
        {4711, 1795583167, "process 4711 on host n12 since 2026-11-25 05:06:07 UTC"},
        {1, 0, "process 1 on host n12 since 1970-01-01 00:00:00 UTC"},
        {-1, 2147483648, "process -1 on host n12 since 2038-01-19 03:14:08 UTC"},
        {INT64_MAX, INT64_MAX,
         "process 9223372036854775807 on host n12 since an unknown time"},
    };
    char text[160];
    (void)state;
    struct base_owner o = {.host = "n12"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        o.pid = rows[i].pid;
        o.since = rows[i].since;
        if ((time_t)o.since != o.since) continue; /* a system with 32 bits */
        assert_string_equal(rows[i].text, base_owner_describe(&o, text));
    }
    memset(o.host, 'h', sizeof o.host - 1);
    assert_non_null(strstr(base_owner_describe(&o, text), "hh since "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_is_alive_until_it_dies),
        cmocka_unit_test(a_child_is_not_its_parent),
        cmocka_unit_test(a_record_of_another_process_is_not_alive),
        cmocka_unit_test(nonces_never_repeat),
        cmocka_unit_test(a_record_is_encoded_as_documented),
        cmocka_unit_test(any_bytes_yield_a_printable_name),
        cmocka_unit_test(a_description_names_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
