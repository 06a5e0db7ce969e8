/* Hints: what the user asked for through MPI_Info, the environment variable
 * PNETCDF_HINTS or both; PNETCDF_REPORT and PNETCDF_TRACE are another way to set the
 * hints nc_report and nc_trace. */
#ifndef BASE_HINTS_H
#define BASE_HINTS_H

#include <mpi.h>
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
enum base_report { BASE_REPORT_NONE, BASE_REPORT_STDERR, BASE_REPORT_FILE };

enum base_recover {
    BASE_RECOVER_REPLAY, /* at an open for writing */
    BASE_RECOVER_DISABLE,
    BASE_RECOVER_ERROR,
    BASE_RECOVER_ALWAYS
};
enum base_flush { BASE_FLUSH_ON_CLOSE, BASE_FLUSH_IMMEDIATE };
enum base_log_at { BASE_LOG_AT_WAIT, BASE_LOG_AT_POST };
enum { BASE_COHERENT = 3 }; /* a third way for e10_cache, beside enum base_choice */

/* The library's own hints, plain values only: process 0's hold for all, so they
 * are broadcast as bytes. Sizes are in bytes; 0 where the user said nothing and the
 * library decides. */
struct base_hints {
    int64_t header_align, var_align, record_align;
    int64_t header_read_chunk;
    int64_t move_chunk;
    int64_t ibuf_size;
    int64_t in_place_swap; /* enum base_choice */
    int64_t hash_size_dim, hash_size_var, hash_size_gattr, hash_size_vattr;
    int64_t aggregators_per_node; /* that write and read; 0: the library decides */
    int64_t cb_nodes;             /* that have a domain of the file; 0: likewise */
    int64_t num_subfiles;
    int64_t subfiling;          /* enum base_choice; there are no subfiles yet */
    int64_t transfer;           /* enum base_transfer */
    int64_t file_io;            /* enum base_file_io: who reads and writes the file */
    int64_t node_procs;         /* that share memory, at most; 0: all of a node */
    int64_t node_share;         /* of a block in shared memory, for each process */
    int64_t statistics;         /* enum base_choice: told by ncmpi_inq_file_info */
    int64_t report;             /* enum base_report: at close */
    int64_t trace;              /* the same: NONE, or to a FILE */
    int64_t burst;              /* enum base_choice: puts go to a log first */
    int64_t burst_coherent;     /* nobody reads what has not reached the file */
    int64_t burst_del_on_close; /* enum base_choice */
    int64_t burst_flush_buffer; /* bytes; 0: the library decides */
    int64_t burst_shared_logs;  /* enum base_choice */
    int64_t burst_recover;      /* enum base_recover */
    int64_t burst_flush;        /* enum base_flush */
    int64_t burst_log_at;       /* enum base_log_at: when nonblocking puts are logged */
    int64_t burst_threads;
    int64_t burst_bandwidth; /* bytes a second of each thread; 0: no limit */
    int64_t burst_delay;     /* milliseconds without a put before threads drain */
    char burst_dirname[1024];
    /* The same in the words of E10; they hold where e10_cache is not disabled. */
    int64_t e10_cache; /* enum base_choice, or BASE_COHERENT */
    int64_t e10_flush, e10_discard, e10_threads;
    char e10_path[1024];
    int64_t no_indep_rw; /* the MPI-IO hint romio_no_indep_rw, true or false */
    int64_t bad_driver;  /* nc_driver asks for one that there is not */
};

/* Reads the hints: defaults, then user (may be MPI_INFO_NULL), then the environment
 * variables: PNETCDF_REPORT, PNETCDF_TRACE, and PNETCDF_HINTS, "key=value;key=value".
 * Text that is not of this form, and values out of a hint's range, are passed over, the
 * former with a word on standard error where `warn`. *info is a new info object with all
 * keys, for MPI_File_open; the caller frees it. Local. NC_ENOMEM, NC_EMPI. */
int base_hints_read(struct base_hints *h, MPI_Info user, bool warn, MPI_Info *info);

/* Adds the hints in force to info. Local. NC_EMPI. */
int base_hints_report(const struct base_hints *h, MPI_Info info);

/* Puts into words which hint differs first, and its values. False if none does. */
bool base_hints_compare(const struct base_hints *mine, const struct base_hints *theirs,
                        char *text, size_t size);

#endif
