/* The hints, with their values and meanings: the rows of hints.def. Does not use MPI. */
#ifndef HINTS_TABLE_H
#define HINTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Default alignment of the fixed-size section, which is also the minimum header size, and
 * default record alignment. */
enum { HINTS_FIXED_ALIGN = 512, HINTS_RECORD_ALIGN = 4 };

enum hints_choice { HINTS_DISABLE, HINTS_ENABLE, HINTS_AUTO };
enum hints_transfer {
    HINTS_TRANSFER_AUTO,
    HINTS_TRANSFER_DIRECT,
    HINTS_TRANSFER_NODE,
    HINTS_TRANSFER_VIEW
};
enum hints_file_io { HINTS_FILE_IO_AUTO, HINTS_FILE_IO_POSIX, HINTS_FILE_IO_MPI };
enum hints_short_file { HINTS_SHORT_ERROR, HINTS_SHORT_WARN, HINTS_SHORT_ZEROS };
enum hints_join { HINTS_JOIN_LATER, HINTS_JOIN_CLOSE, HINTS_JOIN_BACKGROUND };
enum hints_report_to {
    HINTS_REPORT_SILENT = -1, /* not even about hints without an effect */
    HINTS_REPORT_NONE,
    HINTS_REPORT_STDERR,
    HINTS_REPORT_FILE
};

enum hints_recover {
    HINTS_RECOVER_REPLAY, /* replay when opened for writing */
    HINTS_RECOVER_DISABLE,
    HINTS_RECOVER_ERROR,
    HINTS_RECOVER_ALWAYS
};
enum hints_flush { HINTS_FLUSH_ON_CLOSE, HINTS_FLUSH_IMMEDIATE };
enum hints_log_at { HINTS_LOG_AT_WAIT, HINTS_LOG_AT_POST };
enum hints_stage_scope {
    HINTS_STAGE_NODE,
    HINTS_STAGE_GLOBAL
};                           /* scope of a staged file */
enum { HINTS_COHERENT = 3 }; /* an additional value of e10_cache */
enum { HINTS_MOST = 96 };    /* the maximum number of hints */

/* The library's hints. All members are plain values, because process 0's hints are
 * broadcast as bytes and apply to all processes. Sizes are in bytes. 0 means that the
 * library chooses the value. */
struct hints {
    int64_t header_align, var_align, record_align;
    int64_t header_read_chunk;
    int64_t move_chunk;
    int64_t redef_wait; /* seconds */
    int64_t ibuf_size;
    int64_t in_place_swap; /* enum hints_choice */
    int64_t hash_size_dim, hash_size_var, hash_size_gattr, hash_size_vattr;
    int64_t aggregators_per_node; /* number of processes that access the file; 0: the
                                   * library decides */
    int64_t cb_nodes;       /* number of nodes that own a file domain; 0: the library
                             * decides */
    int64_t num_subfiles;   /* number of subfiles; 0: one per node */
    int64_t subfiling;      /* enum hints_choice: num_subfiles > 1 requests blobs */
    int64_t blob;           /* enum hints_choice: store values in blobs in subfiles */
    int64_t blob_sums;      /* enum hints_choice: checksums for blobs */
    int64_t blob_join;      /* enum hints_join */
    int64_t transfer;       /* enum hints_transfer */
    int64_t file_io;        /* enum hints_file_io: calls used to read and write the
                             * file */
    int64_t short_file;     /* enum hints_short_file: effect of a get beyond the end */
    int64_t node_procs;     /* maximum number of processes that share memory; 0: all
                             * processes on a node */
    int64_t node_share;     /* bytes of shared memory per process in a block */
    int64_t statistics;     /* enum hints_choice: ncmpi_inq_file_info reports counters */
    int64_t report;         /* enum hints_report_to: write a report at close */
    int64_t trace;          /* enum hints_report_to: NONE or FILE */
    int64_t burst;          /* enum hints_choice: puts write to a log first */
    int64_t burst_coherent; /* enum hints_choice: gets read only values that are in the
                             * file */
    int64_t burst_del_on_close; /* enum hints_choice */
    int64_t burst_flush_buffer; /* bytes; 0: the library decides */
    int64_t burst_shared_logs;  /* enum hints_choice */
    int64_t burst_recover;      /* enum hints_recover */
    int64_t burst_flush;        /* enum hints_flush */
    int64_t burst_log_at;       /* enum hints_log_at: time at which nonblocking puts
                                 * are logged */
    int64_t burst_threads;
    int64_t burst_bandwidth; /* bytes per second and thread; 0: no limit */
    int64_t burst_delay;     /* milliseconds without puts after which threads drain the
                              * log */
    int64_t deferred_close;  /* enum hints_choice: close returns before the log is
                              * drained */
    char burst_dirname[1024];
    /* Hints with E10's names, which take precedence unless e10_cache is disabled. */
    int64_t e10_cache; /* enum hints_choice, or HINTS_COHERENT */
    int64_t e10_flush, e10_discard, e10_threads;
    char e10_path[1024];
    int64_t stage;       /* enum hints_choice: cache values on a fast local device when
                          * they are read */
    int64_t stage_scope; /* enum hints_stage_scope */
    int64_t stage_size;  /* maximum number of bytes per node; 0: no limit */
    int64_t stage_block; /* block size in bytes */
    int64_t stage_sums;  /* enum hints_choice */
    int64_t stage_keep;  /* enum hints_choice: retain the stage between close and the next
                          * open */
    int64_t stage_ahead; /* enum hints_choice: prefetch the next records */
    int64_t stage_exchange; /* enum hints_choice: read blocks from other nodes */
    char stage_dirname[1024];
    char stage_prefetch[1024];
    char quantize[1024]; /* rules, see base_rules.h */
    char compress[1024]; /* rules, see base_rules.h: compress blobs into frames */
    char chunk[1024];    /* chunk lengths for netCDF-4 files: "var:2,3/w:10" */
    int64_t no_indep_rw; /* MPI-IO hint romio_no_indep_rw, true or false */
    int64_t bad_driver;  /* the hint nc_driver names an unknown driver */
    int64_t any_asked;   /* at least one hint was requested; see `asked` */
    unsigned char asked[HINTS_MOST]; /* 1 for each row of hints_table whose hint was
                                      * requested with another value than its default */
};

enum hints_group {
    HINTS_GROUP_MAIN,
    HINTS_GROUP_BURST,
    HINTS_GROUP_STAGE,
    HINTS_GROUP_UNUSED
};
enum hints_kind {
    HINTS_KIND_NUMBER,
    HINTS_KIND_WORD,
    HINTS_KIND_TEXT,
    HINTS_KIND_RULES, /* rules, see base_rules.h */
    HINTS_KIND_OTHER
};
struct hints_word;
struct base_rule_mode;

struct hints_row {
    enum hints_group group;
    enum hints_kind kind;
    const char *key;
    size_t offset, size;                 /* offset and size of the member in struct
                                          * hints */
    int64_t value;                       /* default */
    int64_t least;                       /* minimum, if the value is a number */
    const struct hints_word *words;      /* valid words, if the value is a word */
    const struct base_rule_mode *modes;  /* valid modes, if the value consists of
                                          * rules */
    const char *text;                    /* default, if the value is text */
    bool reported;                       /* ncmpi_inq_file_info reports the value in
                                          * effect */
    const char *values, *without, *what; /* documentation, with backquotes as in
                                          * Markdown */
};

/* All hints; the last row has no key. hints_find returns the hint with a key, or NULL. */
extern const struct hints_row hints_table[];
const struct hints_row *hints_find(const char *key);

/* Sets all hints to their default values. */
void hints_set_defaults(struct hints *h);

/* Returns whether the text is a valid value for the hint. Any text is valid for other
 * libraries' hints. */
bool hints_accepts(const struct hints_row *t, const char *text);

/* Returns whether a hint's name has one of this library's prefixes. */
bool hints_is_ours(const char *key);

/* Describes the error in a hint: an invalid value, or an unknown name with this library's
 * prefix. For an unknown name, also suggests the most similar one. Returns false if the
 * hint is valid. */
bool hints_describe_error(const char *key, const char *value, char *words, size_t size);

/* Sets a hint from text. Ignores unknown hints and invalid values. */
void hints_set(struct hints *h, const char *key, const char *text);

/* Translates E10's hints and rounds alignments. Call it after all hints have been set. */
void hints_complete(struct hints *h);

/* Returns the effective value of a hint that is a number or a word. */
int64_t hints_number(const struct hints *h, const struct hints_row *t);

/* Returns the effective value of a hint as text. */
const char *hints_value(const struct hints *h, const struct hints_row *t, char *text,
                        size_t size);

/* Buffer sizes that suffice for the name and the value of a hint in any MPI library,
 * including the NUL. An MPI library may have lower limits. */
enum { HINTS_KEY = 256, HINTS_VALUE = 1025 };

/* Passes the hints in the environment to `take`: PNETCDF_REPORT, PNETCDF_TRACE, and the
 * pairs "key=value;key=value" in PNETCDF_HINTS. `take` returns whether to continue.
 * Malformed pairs are passed to `passed_over`, which may be NULL. Returns false if out of
 * memory. */
struct hints_from_environment {
    bool (*take)(void *of, const char *variable, const char *key, const char *value);
    void (*passed_over)(void *of, const char *piece);
    void *of;
};
bool hints_environment(const struct hints_from_environment *e);

#endif
