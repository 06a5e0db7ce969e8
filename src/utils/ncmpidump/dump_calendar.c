/* Converts dates to day numbers and back in the calendars of the CF conventions. Day 0 is
 * 1 January of year 0 in each calendar, except that the Julian part of the standard
 * calendar continues the day numbers of its Gregorian part. */
#include "dump_date.h"

#include <strings.h>

/* First day of the Gregorian calendar, 1582-10-15, and the difference between Julian and
 * Gregorian day numbers. */
enum { GREGORIAN_START = 578101, JULIAN_AHEAD = 2 };

static const struct {
    const char *name;
    enum dump_calendar calendar;
} names[] = {
    {"proleptic_gregorian", DUMP_PROLEPTIC},
    {"julian", DUMP_JULIAN},
    {"noleap", DUMP_NOLEAP},
    {"no_leap", DUMP_NOLEAP},
    {"365_day", DUMP_NOLEAP},
    {"all_leap", DUMP_ALL_LEAP},
    {"366_day", DUMP_ALL_LEAP},
    {"360_day", DUMP_360_DAY},
};

bool dump_find_calendar(const char *name, enum dump_calendar *calendar)
{
    *calendar = DUMP_STANDARD;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(name, names[i].name) == 0) *calendar = names[i].calendar;
    return strcasecmp(name, "none") != 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Returns the calendar whose rules apply to a date of the standard calendar. */
static enum dump_calendar rules_on(struct dump_date d)
{
    int64_t number = (d.year * 12 + d.month) * 31 + d.day;
    return number < (1582 * 12 + 10) * 31 + 15 ? DUMP_JULIAN : DUMP_PROLEPTIC;
}

/* Returns the day number of 1 January. Must not be called for the standard calendar. */
static int64_t year_start(enum dump_calendar calendar, int64_t y)
{
    switch (calendar) {
    case DUMP_NOLEAP:
        return 365 * y;
    case DUMP_ALL_LEAP:
        return 366 * y;
    case DUMP_360_DAY:
        return 360 * y;
    case DUMP_JULIAN:
        return 365 * y + floor_div(y + 3, 4);
    default:
        return 365 * y + floor_div(y + 3, 4) - floor_div(y + 99, 100) +
               floor_div(y + 399, 400);
    }
}

int dump_month_length(enum dump_calendar calendar, int64_t year, int month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (calendar == DUMP_360_DAY) return 30;
    if (month != 2) return days[month - 1];
    if (calendar == DUMP_STANDARD) calendar = rules_on((struct dump_date){year, 2, 1});
    return 28 + (year_start(calendar, year + 1) - year_start(calendar, year) == 366);
}

int64_t dump_day_of(enum dump_calendar calendar, struct dump_date date)
{
    if (calendar == DUMP_STANDARD) {
        enum dump_calendar rules = rules_on(date);
        return dump_day_of(rules, date) - (rules == DUMP_JULIAN ? JULIAN_AHEAD : 0);
    }
    int64_t day = year_start(calendar, date.year) + date.day - 1;
    for (int month = 1; month < date.month; month++)
        day += dump_month_length(calendar, date.year, month);
    return day;
}

struct dump_date dump_date_of(enum dump_calendar calendar, int64_t day)
{
    if (calendar == DUMP_STANDARD) {
        if (day >= GREGORIAN_START) return dump_date_of(DUMP_PROLEPTIC, day);
        return dump_date_of(DUMP_JULIAN, day + JULIAN_AHEAD);
    }
    struct dump_date d = {.year = floor_div(day, 366), .month = 1};
    /* The first guess is at most one part in 60 too small. Each iteration reduces the
     * error. */
    for (int64_t behind; (behind = day - year_start(calendar, d.year + 1)) >= 0;)
        d.year += 1 + behind / 366;
    while (day < year_start(calendar, d.year))
        d.year--;
    int left = (int)(day - year_start(calendar, d.year));
    for (int length; left >= (length = dump_month_length(calendar, d.year, d.month));) {
        left -= length;
        d.month++;
    }
    d.day = left + 1;
    return d;
}
