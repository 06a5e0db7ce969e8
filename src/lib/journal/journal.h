/* The journal of a redefinition: a file beside the dataset, from which a redefinition
 * that was interrupted can be completed or taken back. No MPI.
 *
 *     NAME.redef, pages of 4096 bytes:
 *       0      what it is of: struct journal_facts
 *       1, 2   how far things are: struct journal_state; the copies take turns, so that
 *              one always holds
 *       3      who works on it: struct journal_holder
 *       4 ...  the old header, the new header, and a byte for each of its variables (is
 *              it to be filled?); then two areas, which take turns, for bytes that are
 *              about to be overwritten
 *
 * doc/formats.md has every field.
 *
 * It is complete and on the device before the dataset's first bytes are changed, to a
 * mark that no reader takes for a netCDF file's; that is on the device before anything
 * else of the dataset is changed; and the journal goes only when a whole header, old or
 * new, is back on the device. So a dataset with its own first bytes is the old or the new
 * one, whatever lies beside it, and one without can be brought to an end by its journal.
 *
 * The mark says whose the redefinition is (the nonce of its base_owner) and which of the
 * two states holds: a state is written first, then the mark names it, then the other
 * state goes where areas are used, and then data are moved. A process that takes over
 * gives both a new nonce first. So where dataset or journal are put back as they were at
 * another time, that is seen.
 *
 * One opening at a time moves data. Where the file system has locks it holds that of the
 * dataset (BASE_LOCK_LAYOUT) alone, from before the journal is made until after it is
 * gone, and each process that writes holds one of the journal (BASE_LOCK_MOVERS).
 * Everywhere the journal's holder tells who it is. An owner that finds another holder, or
 * its journal gone, has lost the redefinition: it writes nothing more. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base_owner.h"
#include "cdf.h"

enum { JOURNAL_PAGE = 4096, JOURNAL_MARK = 12 };

struct journal_facts {
    uint64_t inode, birth;        /* of the dataset's file; birth 0: unknown */
    int64_t old_size, new_size;   /* of it, in bytes, before and while data move */
    int64_t before, after, fills; /* bytes of the headers, and of fill modes */
    int64_t area;                 /* bytes of each of the two areas */
    uint64_t sum;                 /* of headers and fill modes */
};

enum journal_phase {
    JOURNAL_NONE,       /* there is nothing to bring to an end */
    JOURNAL_READY,      /* nothing has been moved */
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

/* The process that works on it. */
struct journal_holder {
    struct base_owner owner; /* its nonce is in the dataset's mark, too */
    uint64_t earlier; /* what that said before, while a new holder changes it; or 0 */
    bool released;    /* it has given up, and left both for the next to finish */
};

/* ---- journal_format.c: bytes; no files ---- */

/* Writes JOURNAL_PAGE bytes. */
void journal_encode_facts(const struct journal_facts *f, unsigned char *page);
void journal_encode_state(const struct journal_state *s, unsigned char *page);
void journal_encode_holder(const struct journal_holder *h, unsigned char *page);

/* NULL, or in words what is wrong with a journal that begins with this page and has so
 * many bytes. */
const char *journal_decode_facts(struct journal_facts *f, const unsigned char *page,
                                 int64_t size);

/* False if it is none, or torn, or cannot be of this journal. */
bool journal_decode_state(struct journal_state *s, const unsigned char *page,
                          const struct journal_facts *f);

/* False if it is none, or torn. */
bool journal_decode_holder(struct journal_holder *h, const unsigned char *page);

/* The JOURNAL_MARK bytes that a dataset of this format (1, 2 or 5) begins with while its
 * data move; and the name in them, nonce and serial added up: 0 if they are none. */
void journal_encode_mark(int format, uint64_t name, unsigned char *mark);
uint64_t journal_decode_mark(const unsigned char *mark);

int64_t journal_headers_at(void);
int64_t journal_area_at(const struct journal_facts *f, int area);
int64_t journal_size(const struct journal_facts *f);

/* Both headers (uninitialised), and the new one's fill modes, from the bytes of all
 * three. NC_ENOTNC with words, NC_ENOMEM: neither. */
int journal_decode_headers(const struct journal_facts *f, const unsigned char *bytes,
                           struct cdf_header *before, struct cdf_header *after);

/* ---- journal_file.c: files; errors come with words ---- */

struct journal {
    int fd;    /* -1: not open here */
    int file;  /* the dataset, likewise; each write is on the device when it returns */
    int guard; /* a descriptor of the dataset that holds its lock, the caller's; -1: there
                * is none, and the holder decides */
    char *path, *of;
    struct stat
        model;    /* of the dataset: its owner and rights, which the journal has, too */
    int64_t base; /* where in its file the dataset begins: all places count from there */
    struct journal_facts facts;
    struct journal_state state;
    struct journal_holder holder;     /* this process's job, if it is claimed */
    uint64_t named;                   /* the nonce that the mark had when it was read */
    unsigned char head[JOURNAL_MARK]; /* what the mark takes the place of */
    bool claimed; /* the dataset's layout is this process's to change */
    bool marked;  /* the dataset is, by this process */
    bool written; /* the journal says who its holder is */
    bool ended;   /* and the journal is gone, as there is nothing left to be done */
    bool dirty;   /* bytes of an area are not on the device yet */
    bool pending; /* the dataset is left marked: the next to open it has to finish */
    bool lost;    /* another one has taken it over: nothing is written any more */
};

/* An empty one, its end, and the name of a dataset's: NC_ENOMEM. Its end gives back what
 * was claimed: the guard is left with the shared lock of an opening for writing. */
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
 * The dataset must have been claimed. */
int journal_start(struct journal *j, int64_t before, const struct cdf_header *after,
                  int64_t area, enum journal_phase phase);

/* The dataset is marked once more. */
int journal_mark(struct journal *j);

/* Puts a new header in place of one of so many bytes, where no data move: the new one, or
 * the old one and an error, or pending. The dataset must have been claimed. */
int journal_replace(struct journal *j, int64_t before, const struct cdf_header *after);

/* Another state, on the device when it returns. */
int journal_record(struct journal *j, struct journal_state s);

/* Bytes of an area, at a place in it. */
int journal_read_area(struct journal *j, int area, int64_t at, void *bytes, int64_t n);
int journal_write_area(struct journal *j, int area, int64_t at, const void *bytes,
                       int64_t n);

/* What this process wrote to areas is on the device. */
int journal_sync_areas(struct journal *j);

/* Writes the header that the phase is about, its first bytes last, and removes the
 * journal. */
int journal_finish(struct journal *j);

/* Takes the mark back, if there is one; cuts the dataset to its old size and removes the
 * journal. To be called before anything was moved. */
void journal_drop(struct journal *j);

/* ---- journal_find.c ---- */

/* Reads the journal of a dataset that is marked, and sees to it that it is that.
 * NC_ENOTNC, and words that say what is the matter. */
int journal_find(struct journal *j);

/* The bytes of headers and fill modes. NC_EREAD, NC_ENOTNC. */
int journal_read_headers(struct journal *j, unsigned char *bytes);

/* Beside a dataset that is sound and that this process may change, a journal has nothing
 * to say: one of this very file, or one that is not complete, is removed; one of another
 * file gets another name. NC_EFILE, and words that say what is there instead. */
int journal_clear(struct journal *j);

/* The same when a sound dataset has been opened for writing, whose lock the guard has;
 * what cannot be cleared away stays. */
void journal_tidy(int guard, const char *dataset);

/* Removes what is left of a dataset that is being removed or made anew: call with what
 * journal_of told before it was removed (NULL: nothing). */
char *journal_of(const char *dataset);
void journal_forget(char *path);

/* ---- journal_owner.c: one at a time ---- */

/* An opening for writing: `guard`, a descriptor of the dataset, gets its shared lock.
 * While another one moves data it waits, until nothing has gone on there for so many
 * seconds. NC_EFILE, and words that say who it is. */
int journal_enter(int guard, const char *dataset, int64_t patience);

/* For a redefinition: nobody else may have the dataset open for writing from here on,
 * until the end of the journal. NC_EFILE. */
int journal_claim(struct journal *j);

/* For finishing one that was interrupted: finds its journal and takes it over, and the
 * dataset with it. It waits likewise. If nothing is left to be done the state's phase is
 * JOURNAL_NONE. NC_EFILE, and words that say who works on it; NC_ENOTNC. */
int journal_take(struct journal *j, int64_t patience);

/* Takes it from its holder, who may be at work: that writes nothing more, but for what it
 * is about to write now. The dataset and the mark stay as they are. */
int journal_steal(struct journal *j);

/* Opens, in another process, the file that one has made or found, and keeps others from
 * taking it over. */
int journal_join(struct journal *j);

/* Is it still this process's job's? Asked before each write. NC_EFILE: no, and nothing is
 * to be written here any more. */
int journal_check(struct journal *j);

/* What to say of a dataset that is marked to those who only want to read it: who works on
 * it, or how to finish what was interrupted; `fd` has it open. In text, which is
 * returned.
 */
const char *journal_words(const char *dataset, int fd, char text[512]);

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
