/* Starts, signals and ends the processes of jobs and tools.
 *
 * A job with one process is started without a launcher, a job with two processes by
 * mpiexec. The processes of a job connect to the controller's socket, and serve several
 * schedules until they are killed. A tool is a child process that ends by itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pairs.h"

struct pairs_place pairs_place = {.listener = -1};
struct pairs_actor pairs_actors[PAIRS_ACTORS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- creating and removing directories ---- */

bool pairs_place_make(const char *program)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *tools = getenv("PAIRS_TOOLS"), *tmp = getenv("TMPDIR");
    if (tmp == NULL || strlen(tmp) > 24)
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(pairs_place.dir, sizeof pairs_place.dir, "%s/ncmpi-pairs.XXXXXX", tmp);
    if (mkdtemp(pairs_place.dir) == NULL) return false;
    snprintf(pairs_place.run, sizeof pairs_place.run, "%s/run", pairs_place.dir);
    snprintf(pairs_place.socket, sizeof pairs_place.socket, "%s/socket", pairs_place.dir);
    pairs_place.tools = tools != NULL ? tools : ".";
    pairs_place.program = program;
    pairs_place.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", pairs_place.socket);
    for (int i = 0; i < PAIRS_ACTORS; i++)
        pairs_actors[i].ranks[0].fd = pairs_actors[i].ranks[1].fd = -1;
    return pairs_place.listener >= 0 &&
           bind(pairs_place.listener, (struct sockaddr *)&at, sizeof at) == 0 &&
           listen(pairs_place.listener, 16) == 0 && mkdir(pairs_place.run, 0700) == 0 &&
           setenv("BURST_CALLS_DIR", pairs_place.run, 1) == 0;
}

void pairs_place_remove(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", pairs_place.dir, (char *)NULL);
        _exit(1);
    }
    if (pid > 0) waitpid(pid, NULL, 0);
}

/* ---- starting ---- */

/* Called in the child. Redirects the output to a file, and ensures that the child ends
 * when the controller does. */
static void become(const char *output, const char *const *argv)
{
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600),
        in = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(99);
    execvp(argv[0], (char *const *)argv);
    _exit(99);
}

static bool start(struct pairs_actor *a, int actor, int procs)
{
    static int tokens;
    const char *yield = getenv("NCMPI_YIELD"), *launcher = getenv("MPIEXEC"), *argv[16];
    char token[16], output[128];
    int n = 0;
    snprintf(token, sizeof token, "%d", ++tokens);
    snprintf(output, sizeof output, "%s/%s.out", pairs_place.dir,
             pairs_actor_name(actor));
    if (procs > 1) {
        argv[n++] = launcher != NULL ? launcher : "mpiexec.mpich";
        argv[n++] = "-disable-auto-cleanup";
        argv[n++] = "-n";
        argv[n++] = "2";
        if (yield != NULL && access(yield, R_OK) == 0) {
            argv[n++] = "-genv";
            argv[n++] = "LD_PRELOAD";
            argv[n++] = yield;
        }
    }
    argv[n++] = pairs_place.program;
    argv[n++] = "--job";
    argv[n++] = pairs_place.socket;
    argv[n++] = token;
    argv[n] = NULL;
    pid_t pid = fork();
    if (pid == 0) become(output, argv);
    *a = (struct pairs_actor){
        .state = PAIRS_ABSENT, .procs = procs, .token = tokens, .child = pid};
    a->ranks[0].fd = a->ranks[1].fd = -1;
    return pid > 0;
}

/* Accepts the connections of the actor's processes. Closes connections of processes that
 * no longer exist. */
static bool greet(struct pairs_actor *a)
{
    double until = now() + 60;
    for (int n = 0; n < a->procs;) {
        struct pairs_hello hello;
        struct pollfd p = {.fd = pairs_place.listener, .events = POLLIN};
        if (poll(&p, 1, 100) < 0 && errno != EINTR) return false;
        if (now() > until) return false;
        if ((p.revents & POLLIN) == 0) continue;
        int fd = accept4(pairs_place.listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) return false;
        if (recv(fd, &hello, sizeof hello, 0) != sizeof hello ||
            hello.token != a->token) {
            close(fd);
            continue;
        }
        a->ranks[hello.rank].fd = fd;
        a->ranks[hello.rank].pid = hello.pid;
        n++;
    }
    a->state = PAIRS_IDLE;
    return true;
}

bool pairs_actor_get(int actor, int procs)
{
    struct pairs_actor *a = &pairs_actors[actor];
    if (a->state != PAIRS_ABSENT && a->procs == procs) return true;
    pairs_actor_kill(actor);
    if (start(a, actor, procs) && greet(a)) return true;
    pairs_actor_kill(actor);
    return false;
}

bool pairs_actor_order(int actor, const struct pairs_order *order)
{
    struct pairs_actor *a = &pairs_actors[actor];
    bool sent = true;
    for (int r = 0; r < a->procs; r++) {
        a->ranks[r].answered = false;
        sent &= send(a->ranks[r].fd, order, sizeof *order, MSG_NOSIGNAL) == sizeof *order;
    }
    a->state = PAIRS_BUSY;
    a->wounded = order->step.fault == PAIRS_WOUNDED;
    return sent;
}

void pairs_actor_tool(const char *const *argv, const struct pairs_step *step)
{
    struct pairs_actor *a = &pairs_actors[PAIRS_TOOL];
    char output[128], point[16], calls[256];
    pairs_actor_kill(PAIRS_TOOL);
    snprintf(output, sizeof output, "%s/tool.out", pairs_place.dir);
    snprintf(point, sizeof point, "%d", step->point);
    snprintf(calls, sizeof calls, "%s/test/burst/.libs/calls.so", pairs_place.tools);
    pid_t pid = fork();
    if (pid == 0) {
        if (step->fault != PAIRS_WHOLE) {
            setenv("LD_PRELOAD", calls, 1);
            setenv("BURST_KILL_AT", point, 1);
            setenv("BURST_KILL_HOW", step->fault == PAIRS_STOPPED ? "stop" : "kill", 1);
        }
        become(output, argv);
    }
    *a = (struct pairs_actor){.state = PAIRS_BUSY, .tool = true, .child = pid};
    a->ranks[0].fd = a->ranks[1].fd = -1;
}

/* ---- ending ---- */

/* Waits for the child. All processes of the job have ended, so the launcher will also end
 * soon. */
static void reap(struct pairs_actor *a)
{
    for (int i = 0; i < 200 && a->child > 0; i++) {
        if (waitpid(a->child, NULL, WNOHANG) != 0) {
            a->child = 0;
            return;
        }
        usleep(i < 50 ? 1000 : 10000);
    }
    if (a->child <= 0) return;
    kill(-a->child, SIGKILL);
    waitpid(a->child, NULL, 0);
    a->child = 0;
}

void pairs_actor_kill(int actor)
{
    struct pairs_actor *a = &pairs_actors[actor];
    if (a->tool && a->child > 0) kill(a->child, SIGKILL);
    for (int r = 0; r < PAIRS_PROCS; r++) {
        if (a->ranks[r].fd < 0) continue;
        kill(a->ranks[r].pid, SIGKILL);
        close(a->ranks[r].fd);
        a->ranks[r].fd = -1;
    }
    if (!a->tool && a->procs == 1 && a->child > 0) kill(a->child, SIGKILL);
    reap(a);
    a->state = PAIRS_ABSENT;
    a->tool = false;
}

void pairs_actor_continue(int actor)
{
    struct pairs_actor *a = &pairs_actors[actor];
    if (a->state != PAIRS_ASLEEP) return;
    for (int r = 0; r < a->procs; r++)
        if (!a->tool && a->ranks[r].fd < 0) {
            pairs_actor_kill(actor);
            return;
        }
    if (a->tool) kill(a->child, SIGCONT);
    for (int r = 0; r < PAIRS_PROCS; r++)
        if (a->ranks[r].fd >= 0) kill(a->ranks[r].pid, SIGCONT);
    a->state = PAIRS_BUSY;
}

void pairs_actors_end(void)
{
    for (int i = 0; i < PAIRS_ACTORS; i++)
        pairs_actor_kill(i);
}

/* ---- waiting ---- */

static bool is_stopped(pid_t pid)
{
    char path[64], text[256], *end;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = '\0';
    end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' && end[2] == 'T';
}

static void look_at_tool(struct pairs_actor *a)
{
    int status;
    pid_t pid = waitpid(a->child, &status, WNOHANG | WUNTRACED);
    if (pid == 0) return;
    if (pid == a->child && WIFSTOPPED(status)) {
        a->state = PAIRS_ASLEEP;
        return;
    }
    a->child = 0;
    a->tool = false;
    a->status = pid < 0             ? 99
                : WIFEXITED(status) ? WEXITSTATUS(status)
                                    : 128 + WTERMSIG(status);
    a->state = a->status > 128 ? PAIRS_ABSENT : PAIRS_IDLE;
}

/* Receives the replies of a job's processes. If one of them was killed, kills the
 * others. */
static void look_at_job(struct pairs_actor *a, int actor)
{
    int answered = 0;
    for (int r = 0; r < a->procs; r++) {
        if (!a->ranks[r].answered) {
            ssize_t n =
                recv(a->ranks[r].fd, &a->reply[r], sizeof a->reply[r], MSG_DONTWAIT);
            const bool dead = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
            if (dead && !a->wounded) {
                pairs_actor_kill(actor);
                return;
            }
            if (dead) { /* remains dead until PAIRS_CONTINUE */
                close(a->ranks[r].fd);
                a->ranks[r].fd = -1;
                a->state = PAIRS_ASLEEP;
                return;
            }
            a->ranks[r].answered = n > 0;
        }
        answered += a->ranks[r].answered;
    }
    if (answered == a->procs) {
        a->state = PAIRS_IDLE;
        return;
    }
    for (int r = 0; r < a->procs; r++)
        if (!a->ranks[r].answered && is_stopped(a->ranks[r].pid)) a->state = PAIRS_ASLEEP;
}

bool pairs_actors_wait(unsigned mask, double seconds)
{
    for (double until = now() + seconds;;) {
        struct pollfd p[PAIRS_ACTORS * PAIRS_PROCS];
        nfds_t n = 0;
        bool busy = false;
        for (int i = 0; i < PAIRS_ACTORS; i++) {
            struct pairs_actor *a = &pairs_actors[i];
            if (a->state == PAIRS_BUSY && a->tool)
                look_at_tool(a);
            else if (a->state == PAIRS_BUSY)
                look_at_job(a, i);
            if (a->state == PAIRS_BUSY && (mask >> i & 1)) busy = true;
            for (int r = 0; a->state == PAIRS_BUSY && !a->tool && r < a->procs; r++)
                if (!a->ranks[r].answered)
                    p[n++] = (struct pollfd){.fd = a->ranks[r].fd, .events = POLLIN};
        }
        if (!busy) return true;
        if (now() > until) return false;
        if (poll(p, n, 2) < 0 && errno != EINTR) return false;
    }
}
