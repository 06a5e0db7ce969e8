/* Parses units of time and prints values as dates. */
#include "dump_date.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const int64_t SECOND = 1000000;
static const int64_t DAY = 86400 * (int64_t)1000000;

/* Dates whose year is farther from 0 than this are not printed. */
static const int64_t MOST_YEARS = 10000000;

/* Names of units. A plural 's' is also accepted. */
static const struct {
    const char *name;
    int months;
    int64_t microseconds;
} units_of_time[] = {
    {"microsecond", 0, 1},     {"microsec", 0, 1},      {"millisecond", 0, 1000},
    {"millisec", 0, 1000},     {"msec", 0, 1000},       {"second", 0, 1000000},
    {"sec", 0, 1000000},       {"s", 0, 1000000},       {"minute", 0, 60000000},
    {"min", 0, 60000000},      {"hour", 0, 3600000000}, {"hr", 0, 3600000000},
    {"h", 0, 3600000000},      {"day", 0, 86400000000}, {"d", 0, 86400000000},
    {"week", 0, 604800000000}, {"month", 1, 0},         {"season", 3, 0},
    {"year", 12, 0},           {"yr", 12, 0},
};

static const char *skip_spaces(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Returns the end of the word that starts at p. */
static const char *word_end(const char *p)
{
    while (isalpha((unsigned char)*p) || *p == '_' || *p == '@')
        p++;
    return p;
}

static bool parse_unit(const char *word, size_t length, struct dump_epoch *e)
{
    for (size_t i = 0; i < sizeof units_of_time / sizeof units_of_time[0]; i++) {
        size_t n = strlen(units_of_time[i].name);
        if (length < n || strncasecmp(word, units_of_time[i].name, n) != 0) continue;
        bool plural = length == n + 1 && n > 1 && tolower((unsigned char)word[n]) == 's';
        if (length != n && !plural) continue;
        e->months = units_of_time[i].months;
        e->microseconds = units_of_time[i].microseconds;
        return true;
    }
    return false;
}

static bool is_since(const char *word, size_t length)
{
    static const char *const words[] = {"since", "after", "from", "ref", "@"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncasecmp(word, words[i], length) == 0)
            return true;
    return false;
}

/* Reads at most `most` digits. Returns false if there are none. */
static bool parse_digits(const char **p, int most, int64_t *number)
{
    int n = 0;
    *number = 0;
    for (; n < most && isdigit((unsigned char)**p); n++)
        *number = *number * 10 + (*(*p)++ - '0');
    return n > 0;
}

/* Parses YEAR[-MONTH[-DAY]], with '/' or '-', or YYYYMMDD. */
static bool parse_date(const char **p, struct dump_date *d)
{
    int64_t sign = **p == '-' ? -1 : 1, year, month = 1, day = 1;
    if (**p == '-' || **p == '+') ++*p;
    const char *start = *p;
    if (!parse_digits(p, 9, &year)) return false;
    if (*p - start == 8 && **p != '-' && **p != '/') {
        day = year % 100;
        month = year / 100 % 100;
        year /= 10000;
    } else if (**p == '-' || **p == '/') {
        char separator = *(*p)++;
        if (!parse_digits(p, 2, &month)) return false;
        if (**p == separator) {
            ++*p;
            if (!parse_digits(p, 2, &day)) return false;
        }
    }
    *d = (struct dump_date){sign * year, (int)month, (int)day};
    return true;
}

static bool date_exists(enum dump_calendar calendar, struct dump_date d)
{
    if (d.year > MOST_YEARS || d.year < -MOST_YEARS) return false;
    if (d.month < 1 || d.month > 12) return false;
    return d.day >= 1 && d.day <= dump_month_length(calendar, d.year, d.month);
}

/* Parses HOUR[:MINUTE[:SECOND[.FRACTION]]] or an empty string. Ignores any text after the
 * time. */
static bool parse_time(const char *p, int64_t *time)
{
    static const int64_t limits[] = {24, 60, 60};
    static const int64_t sizes[] = {3600, 60, 1};
    *time = 0;
    p = skip_spaces(*p == 'T' || *p == 't' ? p + 1 : p);
    for (int i = 0; i < 3; i++) {
        int64_t n;
        if (!parse_digits(&p, 2, &n)) return i == 0;
        if (n >= limits[i]) return false;
        *time += n * sizes[i] * SECOND;
        if (i < 2 && *p++ != ':') return true;
    }
    if (*p == '.')
        for (int64_t scale = SECOND / 10; isdigit((unsigned char)*++p); scale /= 10)
            *time += (*p - '0') * scale;
    return true;
}

bool dump_parse_units(const char *units, struct dump_epoch *e)
{
    const char *word = skip_spaces(units);
    const char *end = word_end(word);
    if (!parse_unit(word, (size_t)(end - word), e)) return false;
    word = skip_spaces(end);
    end = word_end(word);
    if (!is_since(word, (size_t)(end - word))) return false;
    const char *p = skip_spaces(end);
    return parse_date(&p, &e->date) && date_exists(e->calendar, e->date) &&
           parse_time(p, &e->time);
}

/* Converts a value to an integer number of units of `scale`. Returns false if the value
 * is not finite or too large for a date. The result is exact if the fraction of the value
 * is a whole number of these units. */
static bool scale_value(double value, int64_t scale, int64_t most, int64_t *result)
{
    double whole = floor(value);
    if (!(fabs(whole) < (double)most / (double)scale)) return false;
    *result = (int64_t)whole * scale + llround((value - whole) * (double)scale);
    return true;
}

/* Adds a number of months to the epoch. Whole months follow the calendar; the day of the
 * month is preserved if the new month has it, else it becomes the last day. The remaining
 * fraction applies to the length of the new month. */
static bool add_months(const struct dump_epoch *e, double value, struct dump_date *date,
                       int64_t *time)
{
    double months = value * e->months, whole = floor(months);
    if (!(fabs(whole) < (double)(12 * MOST_YEARS))) return false;
    int64_t month = e->date.month - 1 + (int64_t)whole;
    int64_t years = month / 12 - (month % 12 < 0);
    *date = (struct dump_date){e->date.year + years, (int)(month - 12 * years) + 1, 0};
    int length = dump_month_length(e->calendar, date->year, date->month);
    date->day = e->date.day < length ? e->date.day : length;
    *time = e->time + llround((months - whole) * (double)(length * DAY));
    return true;
}

static size_t format_date(char *text, struct dump_date d, int64_t time, char mark)
{
    int n = snprintf(text, DUMP_DATE_SIZE, "%.4lld-%02d-%02d", (long long)d.year, d.month,
                     d.day);
    int seconds = (int)(time / SECOND), fraction = (int)(time % SECOND);
    int hour = seconds / 3600, minute = seconds / 60 % 60, second = seconds % 60;
    if (time == 0) return (size_t)n;
    n += snprintf(text + n, DUMP_DATE_SIZE - (size_t)n, "%c%02d", mark, hour);
    if (minute != 0 || second != 0 || fraction != 0)
        n += snprintf(text + n, DUMP_DATE_SIZE - (size_t)n, ":%02d", minute);
    if (second != 0 || fraction != 0)
        n += snprintf(text + n, DUMP_DATE_SIZE - (size_t)n, ":%02d", second);
    if (fraction != 0)
        n += snprintf(text + n, DUMP_DATE_SIZE - (size_t)n, ".%06d", fraction);
    return (size_t)n;
}

size_t dump_put_date(char *text, const struct dump_epoch *e, double value, char mark)
{
    struct dump_date date = e->date;
    int64_t time = e->time, span;
    if (e->months > 0) {
        if (!add_months(e, value, &date, &time)) return 0;
    } else {
        if (!scale_value(value, e->microseconds, INT64_MAX / 10 * 9, &span)) return 0;
        time += span;
    }
    int64_t days = time / DAY - (time % DAY < 0);
    time -= days * DAY;
    date = dump_date_of(e->calendar, dump_day_of(e->calendar, date) + days);
    return format_date(text, date, time, mark);
}
