/* Time values as dates: "days since 1970-01-01" and its like, in the calendars of the
 * CF conventions. Counted in whole microseconds, so that a value that means a whole
 * second is shown as one. */
#ifndef DUMP_DATE_H
#define DUMP_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dump_calendar {
    DUMP_STANDARD, /* Julian up to 4 October 1582, Gregorian from the 15th */
    DUMP_PROLEPTIC,
    DUMP_JULIAN,
    DUMP_NOLEAP,
    DUMP_ALL_LEAP,
    DUMP_360_DAY,
};

struct dump_date {
    int64_t year;
    int month, day; /* from 1 */
};

struct dump_epoch {
    enum dump_calendar calendar;
    int months;           /* in a unit, or 0: the unit is counted in microseconds */
    int64_t microseconds; /* in a unit */
    struct dump_date date;
    int64_t time; /* of the day, in microseconds */
};

/* The calendar of this name, whatever its case; DUMP_STANDARD for others. False for
 * "none", in which there are no dates. */
bool dump_find_calendar(const char *name, enum dump_calendar *calendar);

/* Days from the calendar's own origin to a date, and back. */
int64_t dump_day_of(enum dump_calendar calendar, struct dump_date date);
struct dump_date dump_date_of(enum dump_calendar calendar, int64_t day);
int dump_month_length(enum dump_calendar calendar, int64_t year, int month);

/* Understands "UNIT since DATE [TIME]"; e->calendar is set before. False if the text
 * is something else, or the date does not exist in the calendar. */
bool dump_parse_units(const char *units, struct dump_epoch *e);

enum { DUMP_DATE_SIZE = 48 };

/* Writes the date of a value, as short as it can be said exactly to the microsecond,
 * with `mark` between date and time. Returns its length, or 0 for a value that has no
 * date: not finite, or too far off. */
size_t dump_put_date(char *text, const struct dump_epoch *e, double value, char mark);

#endif
