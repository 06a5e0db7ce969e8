/* The journal of a redefinition: a file beside the dataset, from which a redefinition
 * that was interrupted can be completed or taken back. No MPI.
 *
 *     NAME.redef, pages of 4096 bytes:
 *       0      what it is of: struct journal_facts
 *       1, 2   how far things are: struct journal_state; the copies take turns, so that
 *              one always holds
 *       3 ...  the old header, the new header, and a byte for each of its variables (is
 *              it to be filled?); then two areas, which take turns, for bytes that are
 *              about to be overwritten
 *
 * It is complete and on the device before the dataset's first byte is changed, to one
 * that no reader takes for a netCDF file's; that is on the device before anything else of
 * the dataset is changed; and the journal goes only when a whole header, old or new, is
 * back on the device. So a dataset with its own first byte is the old or the new one,
 * whatever lies beside it, and one without can be brought to an end by its journal. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdf.h"

enum { JOURNAL_PAGE = 4096 };

struct journal_facts {
    uint64_t inode, birth;        /* of the dataset's file; birth 0: unknown */
    int64_t old_size, new_size;   /* of it, in bytes, before and while data move */
    int64_t before, after, fills; /* bytes of the headers, and of fill modes */
    int64_t area;                 /* bytes of each of the two areas */
    uint64_t sum;                 /* of headers and fill modes */
};

enum journal_phase {
    JOURNAL_READY = 1,  /* nothing has been moved */
    JOURNAL_MOVING,     /* round [low, high) is being moved; those before it are */
    JOURNAL_RESTORING,  /* what it overwrote is brought back from the area */
    JOURNAL_FILLING,    /* all is moved; new variables are being filled */
    JOURNAL_COMMITTING, /* all is where the new header says: that is written */
    JOURNAL_RETURNING   /* all is where the old one says */
};

struct journal_state {
    int64_t serial; /* one more with each change */
    enum journal_phase phase;
    bool back;         /* rounds go back to the old layout */
    bool saved;        /* the round's bytes are in the area, too */
    int area;          /* 0 or 1 */
    int64_t low, high; /* places of the moving bytes: see cdf_seek_move */
};

/* ---- journal_format.c: bytes; no files ---- */

/* Writes JOURNAL_PAGE bytes. */
void journal_encode_facts(const struct journal_facts *f, unsigned char *page);
void journal_encode_state(const struct journal_state *s, unsigned char *page);

/* NULL, or in words what is wrong with a journal that begins with this page and has so
 * many bytes. */
const char *journal_decode_facts(struct journal_facts *f, const unsigned char *page,
                                 int64_t size);

/* False if it is none, or torn, or cannot be of this journal. */
bool journal_decode_state(struct journal_state *s, const unsigned char *page,
                          const struct journal_facts *f);

int64_t journal_headers_at(void);
int64_t journal_area_at(const struct journal_facts *f, int area);
int64_t journal_size(const struct journal_facts *f);

/* Both headers (uninitialised), and the new one's fill modes, from the bytes of all
 * three. NC_ENOTNC with words, NC_ENOMEM: neither. */
int journal_decode_headers(const struct journal_facts *f, const unsigned char *bytes,
                           struct cdf_header *before, struct cdf_header *after);

/* ---- journal_file.c: files; errors come with words ---- */

struct journal {
    int fd;   /* -1: not open here */
    int file; /* the dataset, likewise; each write is on the device when it returns */
    char *path, *of;
    int64_t base; /* where in its file the dataset begins: all places count from there */
    struct journal_facts facts;
    struct journal_state state;
    bool dirty;   /* bytes of an area are not on the device yet */
    bool pending; /* the dataset is left marked: the next to open it has to finish */
};

/* An empty one, its end, and the name of a dataset's: NC_ENOMEM. */
int journal_init(struct journal *j, const char *dataset);
void journal_free(struct journal *j);

/* Opens the dataset. NC_EFILE if it is not the file with this number (0: any). */
int journal_open_dataset(struct journal *j, uint64_t inode);

/* The file gets the size it needs for `after`, and blocks where data will be moved to;
 * or stays as it was. NC_ENO_SPACE, NC_EQUOTA, NC_EWRITE. */
int journal_make_room(struct journal *j, const struct cdf_header *before,
                      const struct cdf_header *after);

/* Makes it: the old header, of so many bytes, is read from the dataset, the new one
 * encoded, and areas of so many bytes are reserved. One that was left beside a sound
 * dataset is removed first. Then the dataset is marked; or it is as it was, or pending.
 */
int journal_start(struct journal *j, int64_t before, const struct cdf_header *after,
                  int64_t area, enum journal_phase phase);

/* The dataset is marked once more. */
int journal_mark(struct journal *j);

/* A new header in place of one of so many bytes, where no data move: the new one, or the
 * old one and an error, or pending. */
int journal_replace(struct journal *j, int64_t before, const struct cdf_header *after);

/* Finds that of a dataset that is marked, and sees to it that it is. NC_ENOTNC, and
 * words that say what is the matter. */
int journal_find(struct journal *j);

/* The bytes of headers and fill modes. NC_EREAD, NC_ENOTNC. */
int journal_read_headers(struct journal *j, unsigned char *bytes);

/* Opens, in another process, the file that one has made or found. */
int journal_join(struct journal *j);

/* Another state, on the device when it returns. */
int journal_record(struct journal *j, struct journal_state s);

/* Bytes of an area, at a place in it. */
int journal_read_area(struct journal *j, int area, int64_t at, void *bytes, int64_t n);
int journal_write_area(struct journal *j, int area, int64_t at, const void *bytes,
                       int64_t n);

/* What this process wrote to areas is on the device. */
int journal_sync_areas(struct journal *j);

/* Writes the header that the phase is about, its first byte last, and removes the
 * journal. */
int journal_finish(struct journal *j);

/* Takes the mark back, if there is one; cuts the dataset to its old size and removes the
 * journal. To be called before anything was moved. */
void journal_drop(struct journal *j);

/* Removes what is left of a dataset that is being removed or made anew: call with what
 * journal_of told before it was removed (NULL: nothing). */
char *journal_of(const char *dataset);
void journal_forget(char *path);

/* ---- journal_rounds.c ---- */

enum journal_place { JOURNAL_OLD, JOURNAL_NEW, JOURNAL_AREA };

/* What takes part in moving. Functions in _all are collective; they return this process's
 * own error but for concur_all. */
struct journal_crew {
    struct journal *j;
    const struct cdf_header *before, *after;
    bool first;    /* this process keeps the record */
    int64_t share; /* bytes that all together can save in a round at most */
    int64_t least; /* that a round should have which saves none */
    void *who;     /* for these: */
    /* a round's bytes; its area, where one is meant */
    int (*carry_all)(void *who, const struct journal_state *round,
                     enum journal_place from, enum journal_place to);
    int (*complete_all)(void *who); /* before the new header is written */
    int (*secure_all)(void *who);
    int (*concur_all)(void *who, int err);
};

/* Bytes that an area has to have. */
int64_t journal_area_for(const struct journal_crew *c);

/* Moves all, and writes the new header; after an error all is taken back, or the dataset
 * is pending. Agreed. */
int journal_move_all(struct journal_crew *c);

/* Brings to its end what was interrupted in the state that the journal tells. Agreed. */
int journal_resume_all(struct journal_crew *c);

#endif
