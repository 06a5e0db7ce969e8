/* Which hints there are, what values they take, and what they mean: base_hints.def, as a
 * table. No MPI, so that a tool can tell of them. */
#ifndef BASE_HINTS_TABLE_H
#define BASE_HINTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Alignment of the fixed-size section, so least room of the header, and of the records,
 * where nobody asks for another. */
enum { BASE_FIXED_ALIGN = 512, BASE_RECORD_ALIGN = 4 };

enum base_choice { BASE_DISABLE, BASE_ENABLE, BASE_AUTO };
enum base_transfer {
    BASE_TRANSFER_AUTO,
    BASE_TRANSFER_DIRECT,
    BASE_TRANSFER_NODE,
    BASE_TRANSFER_VIEW
};
enum base_file_io { BASE_FILE_IO_AUTO, BASE_FILE_IO_POSIX, BASE_FILE_IO_MPI };
enum base_join { BASE_JOIN_LATER, BASE_JOIN_CLOSE, BASE_JOIN_BEHIND };
enum base_report { BASE_REPORT_NONE, BASE_REPORT_STDERR, BASE_REPORT_FILE };

enum base_recover {
    BASE_RECOVER_REPLAY, /* at an open for writing */
    BASE_RECOVER_DISABLE,
    BASE_RECOVER_ERROR,
    BASE_RECOVER_ALWAYS
};
enum base_flush { BASE_FLUSH_ON_CLOSE, BASE_FLUSH_IMMEDIATE };
enum base_log_at { BASE_LOG_AT_WAIT, BASE_LOG_AT_POST };
enum base_stage_scope { BASE_STAGE_NODE, BASE_STAGE_GLOBAL }; /* a staged file of whom */
enum { BASE_COHERENT = 3 }; /* a third way for e10_cache, beside enum base_choice */

/* The library's own hints, plain values only: process 0's hold for all, so they
 * are broadcast as bytes. Sizes are in bytes; 0 where the user said nothing and the
 * library decides. */
struct base_hints {
    int64_t header_align, var_align, record_align;
    int64_t header_read_chunk;
    int64_t move_chunk;
    int64_t redef_wait; /* in seconds */
    int64_t ibuf_size;
    int64_t in_place_swap; /* enum base_choice */
    int64_t hash_size_dim, hash_size_var, hash_size_gattr, hash_size_vattr;
    int64_t aggregators_per_node; /* that write and read; 0: the library decides */
    int64_t cb_nodes;             /* that have a domain of the file; 0: likewise */
    int64_t num_subfiles;         /* 0: one a node */
    int64_t subfiling;      /* enum base_choice: num_subfiles above 1 asks for blobs */
    int64_t blob;           /* enum base_choice: values go to blobs in subfiles */
    int64_t blob_sums;      /* enum base_choice: these have checksums */
    int64_t blob_join;      /* enum base_join */
    int64_t transfer;       /* enum base_transfer */
    int64_t file_io;        /* enum base_file_io: who reads and writes the file */
    int64_t node_procs;     /* that share memory, at most; 0: all of a node */
    int64_t node_share;     /* of a block in shared memory, for each process */
    int64_t statistics;     /* enum base_choice: told by ncmpi_inq_file_info */
    int64_t report;         /* enum base_report: at close */
    int64_t trace;          /* the same: NONE, or to a FILE */
    int64_t burst;          /* enum base_choice: puts go to a log first */
    int64_t burst_coherent; /* nobody reads what has not reached the file */
    int64_t burst_del_on_close; /* enum base_choice */
    int64_t burst_flush_buffer; /* bytes; 0: the library decides */
    int64_t burst_shared_logs;  /* enum base_choice */
    int64_t burst_recover;      /* enum base_recover */
    int64_t burst_flush;        /* enum base_flush */
    int64_t burst_log_at;       /* enum base_log_at: when nonblocking puts are logged */
    int64_t burst_threads;
    int64_t burst_bandwidth; /* bytes a second of each thread; 0: no limit */
    int64_t burst_delay;     /* milliseconds without a put before threads drain */
    int64_t deferred_close;  /* enum base_choice: close returns before all is drained */
    char burst_dirname[1024];
    /* The same in the words of E10; they hold where e10_cache is not disabled. */
    int64_t e10_cache; /* enum base_choice, or BASE_COHERENT */
    int64_t e10_flush, e10_discard, e10_threads;
    char e10_path[1024];
    int64_t stage;       /* enum base_choice: what is read is kept near the processes */
    int64_t stage_scope; /* enum base_stage_scope */
    int64_t stage_size;  /* bytes a node, at most; 0: no limit */
    int64_t stage_block; /* bytes */
    int64_t stage_sums;  /* enum base_choice */
    int64_t stage_keep;  /* enum base_choice: over close and open */
    int64_t stage_ahead; /* enum base_choice: of programs that go through time */
    int64_t stage_exchange; /* enum base_choice: blocks that other nodes have */
    char stage_dirname[1024];
    char stage_prefetch[1024];
    char quantize[1024]; /* rules of base_rules.h */
    char compress[1024]; /* likewise: blobs' values are in frames */
    char chunk[1024];    /* "var:2,3/w:10": chunks of netCDF-4 files */
    int64_t no_indep_rw; /* the MPI-IO hint romio_no_indep_rw, true or false */
    int64_t bad_driver;  /* nc_driver asks for one that there is not */
};

enum base_hint_group {
    BASE_HINTS_MAIN,
    BASE_HINTS_BURST,
    BASE_HINTS_STAGE,
    BASE_HINTS_UNUSED
};
enum base_hint_kind {
    BASE_HINT_NUMBER,
    BASE_HINT_WORD,
    BASE_HINT_TEXT,
    BASE_HINT_RULES, /* a text of base_rules.h */
    BASE_HINT_OTHER
};
struct base_word;
struct base_rule_mode;

struct base_hint {
    enum base_hint_group group;
    enum base_hint_kind kind;
    const char *key;
    size_t offset, size;                 /* of the member, in struct base_hints */
    int64_t value;                       /* the default */
    int64_t least;                       /* of a number */
    const struct base_word *words;       /* that it takes */
    const struct base_rule_mode *modes;  /* of rules */
    const char *text;                    /* the default of a text */
    bool reported;                       /* is what is in force told? */
    const char *values, *without, *what; /* for people; backquotes as in Markdown */
};

/* The hints, in order, up to one without a key; the one of this key, or NULL. */
extern const struct base_hint base_hint_table[];
const struct base_hint *base_hint_find(const char *key);

/* What holds where nobody asks for anything. */
void base_hints_default(struct base_hints *h);

/* Is that one of its values? Of what others understand every text is. */
bool base_hint_takes(const struct base_hint *t, const char *text);

/* Does the name say that the hint is this library's, and nobody else's to judge? */
bool base_hint_is_ours(const char *key);

/* What is wrong with a hint, in words: a value that it does not take, or a name of ours
 * that does not exist, with the nearest that does. False: nothing. */
bool base_hint_blame(const char *key, const char *value, char *words, size_t size);

/* Takes a hint of this text; passes over one that nobody knows, or that does not take it.
 */
void base_hints_take(struct base_hints *h, const char *key, const char *text);

/* What came of all that was taken: the words of E10 become our own, places are rounded.
 */
void base_hints_settle(struct base_hints *h);

/* The value in force, as text. */
const char *base_hint_value(const struct base_hints *h, const struct base_hint *t,
                            char *text, size_t size);

/* More bytes than any MPI takes of a hint's name and of its value, with the NUL; what a
 * certain one takes may be less. */
enum { BASE_HINT_KEY = 256, BASE_HINT_VALUE = 1025 };

/* The pairs of the environment: those of PNETCDF_REPORT and PNETCDF_TRACE, and then of
 * PNETCDF_HINTS, "key=value;key=value". `take` returns whether to go on; `passed_over`
 * (may be NULL) is told of pieces that are no pairs. False: no memory. */
struct base_environment {
    bool (*take)(void *of, const char *variable, const char *key, const char *value);
    void (*passed_over)(void *of, const char *piece);
    void *of;
};
bool base_hints_environment(const struct base_environment *e);

#endif
