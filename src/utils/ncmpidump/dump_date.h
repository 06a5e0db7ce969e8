/* Converts time values such as "days since 1970-01-01" to dates in the calendars of the
 * CF conventions. Times are computed in whole microseconds, so that a value that
 * represents a whole second is printed without a fraction. */
#ifndef DUMP_DATE_H
#define DUMP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dump_calendar {
    DUMP_STANDARD, /* Julian until 4 October 1582, Gregorian from 15 October 1582 */
    DUMP_PROLEPTIC,
    DUMP_JULIAN,
    DUMP_NOLEAP,
    DUMP_ALL_LEAP,
    DUMP_360_DAY,
};

struct dump_date {
    int64_t year;
    int month, day; /* month and day, counted from 1 */
};

struct dump_epoch {
    enum dump_calendar calendar;
    int months;           /* months per unit; 0 if the unit has a fixed length */
    int64_t microseconds; /* microseconds per unit */
    struct dump_date date;
    int64_t time; /* time of day in microseconds */
};

/* Finds the calendar of this name, ignoring case. Unknown names yield DUMP_STANDARD.
 * Returns false for "none", which has no dates. */
bool dump_find_calendar(const char *name, enum dump_calendar *calendar);

/* Convert a date to the number of days since the origin of the calendar, and back. */
int64_t dump_day_of(enum dump_calendar calendar, struct dump_date date);
struct dump_date dump_date_of(enum dump_calendar calendar, int64_t day);
int dump_month_length(enum dump_calendar calendar, int64_t year, int month);

/* Parses "UNIT since DATE [TIME]". e->calendar must be set. Returns false if the text is
 * something else or the date does not exist in the calendar. */
bool dump_parse_units(const char *units, struct dump_epoch *e);

enum { DUMP_DATE_SIZE = 48 };

/* Writes the date of a value in the shortest form that is exact to the microsecond, with
 * `mark` between date and time. Returns its length, or 0 if the value has no date because
 * it is not finite or too large. */
size_t dump_put_date(char *text, const struct dump_epoch *e, double value, char mark);

#endif
