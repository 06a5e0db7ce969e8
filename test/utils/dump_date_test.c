/* Tests the calendars, the parser for time units, and the conversion of values to
 * dates. */
#include "dump_date.h"
#include "unit.h"

#include <math.h>

enum { CALENDARS = DUMP_360_DAY + 1 };

/* Returns the day after `d`, using only the lengths of the months. */
static struct dump_date next_day(enum dump_calendar calendar, struct dump_date d)
{
    bool last_julian = d.year == 1582 && d.month == 10 && d.day == 4;
    if (calendar == DUMP_STANDARD && last_julian) return (struct dump_date){1582, 10, 15};
    if (d.day < dump_month_length(calendar, d.year, d.month)) {
        d.day++;
        return d;
    }
    if (d.month < 12) return (struct dump_date){d.year, d.month + 1, 1};
    return (struct dump_date){d.year + 1, 1, 1};
}

static void every_day_has_a_date(void **state)
{
    (void)state;
    for (int calendar = 0; calendar < CALENDARS; calendar++) {
        struct dump_date d = {-801, 1, 1};
        int64_t day = dump_day_of((enum dump_calendar)calendar, d);
        for (; d.year < 2405; day++, d = next_day((enum dump_calendar)calendar, d)) {
            struct dump_date got = dump_date_of((enum dump_calendar)calendar, day);
            assert_int_equal(day, dump_day_of((enum dump_calendar)calendar, d));
            assert_true(got.year == d.year && got.month == d.month && got.day == d.day);
        }
    }
}

static void leap_years(void **state)
{
    (void)state;
    static const struct {
        enum dump_calendar calendar;
        int year, february;
    } cases[] = {
        {DUMP_STANDARD, 1500, 29},  {DUMP_STANDARD, 1700, 28}, {DUMP_STANDARD, 2000, 29},
        {DUMP_PROLEPTIC, 1500, 28}, {DUMP_PROLEPTIC, 0, 29},   {DUMP_JULIAN, 1900, 29},
        {DUMP_NOLEAP, 2000, 28},    {DUMP_ALL_LEAP, 2001, 29}, {DUMP_360_DAY, 2000, 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(cases[i].february,
                         dump_month_length(cases[i].calendar, cases[i].year, 2));
}

static void far_dates_come_back(void **state)
{
    (void)state;
    for (int calendar = 0; calendar < CALENDARS; calendar++)
        for (int64_t day = -50000000; day <= 50000000; day += 999983) {
            struct dump_date d = dump_date_of((enum dump_calendar)calendar, day);
            assert_int_equal(day, dump_day_of((enum dump_calendar)calendar, d));
        }
}

static const char *date(const char *units, const char *calendar, double value)
{
    static char text[DUMP_DATE_SIZE];
    struct dump_epoch e;
    if (!dump_find_calendar(calendar, &e.calendar)) return "no calendar";
    if (!dump_parse_units(units, &e)) return "no units";
    return dump_put_date(text, &e, value, ' ') > 0 ? text : "no date";
}

static void values_have_dates(void **state)
{
    (void)state;
    static const struct {
        const char *units, *calendar;
        double value;
        const char *want;
    } cases[] = {
        {"days since 2000-01-01", "", 0, "2000-01-01"},
        {"days since 2000-01-01", "", 0.5, "2000-01-01 12"},
        {"days since 2000-01-01", "", 1.0 / 1440, "2000-01-01 00:01"},
        {"days since 2000-01-01", "", 1.5 / 86400, "2000-01-01 00:00:01.500000"},
        {"days since 1-1-1", "", 1.0 / 86400, "0001-01-01 00:00:01"},
        {"days since 2000-01-01", "noleap", 59, "2000-03-01"},
        {"days since 2000-01-01", "360_DAY", 59, "2000-02-30"},
        {"days since 2000-02-30", "360_day", 1, "2000-03-01"},
        {"days since 2000-02-30", "", 1, "no units"},
        {"days since 1582-10-04", "gregorian", 1, "1582-10-15"},
        {"days since 1582-10-04", "proleptic_gregorian", 1, "1582-10-05"},
        {"days since 1582-10-10", "", 0, "1582-10-20"},
        {"hours since 1970-01-01T00:00:00Z", "", -1, "1969-12-31 23"},
        {"seconds since 1970-1-1 0:0:0.25", "", 2147483648.0,
         "2038-01-19 03:14:08.250000"},
        {"msec since 2000-01-01", "", 1, "2000-01-01 00:00:00.001000"},
        {"months since 2000-01-31", "", 1, "2000-02-29"},
        {"months since 2000-01-15", "", -2, "1999-11-15"},
        {"years since 2000-01-01", "", 0.5, "2000-07-01"},
        {"weeks since 2000/01/01", "julian", 1, "2000-01-08"},
        {"DAYS AFTER 20000229", "", 366, "2001-03-01"},
        {"days @ 1999", "", 364, "1999-12-31"},
        {"days since -4713-01-01", "", 0, "-4713-01-01"},
        {"days since 2000-01-01", "none", 0, "no calendar"},
        {"days since 2000-01-01 24:00", "", 0, "no units"},
        {"days since 2000-13-01", "", 0, "no units"},
        {"days since 2000-00-10", "", 0, "no units"},
        {"days", "", 0, "no units"},
        {"days since", "", 0, "no units"},
        {"ds since 2000-01-01", "", 0, "no units"},
        {"metres since 2000-01-01", "", 0, "no units"},
        {"", "", 0, "no units"},
        {"days since 2000-01-01", "", NAN, "no date"},
        {"days since 2000-01-01", "", INFINITY, "no date"},
        {"days since 2000-01-01", "", 9.96920996838687e36, "no date"},
        {"years since 2000-01-01", "", -1e300, "no date"},
        {"days since 2000-01-01", "", 5e7, "138895-05-08"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(cases[i].want,
                            date(cases[i].units, cases[i].calendar, cases[i].value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_has_a_date),
        cmocka_unit_test(leap_years),
        cmocka_unit_test(far_dates_come_back),
        cmocka_unit_test(values_have_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
