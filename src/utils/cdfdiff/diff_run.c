/* Runs one comparison: headers, data, report, picture. */
#include <string.h>
#include <unistd.h>

#include "base_mem.h"
#include "diff.h"
#include "util_message.h"

static int data(struct diff *d, int (*merge)(struct diff *d, int status))
{
    bool enough = d->options.first_only && d->header_differences > 0;
    if (d->options.header_only || enough) return 0;
    int status = diff_data(d);
    return merge == NULL ? status : merge(d, status);
}

static int compare(struct diff *d, int (*merge)(struct diff *d, int status))
{
    util_json_start(&d->j, d->out);
    diff_report_start(d);
    util_mute(d->rank != 0); /* all processes find the same differences in the headers */
    int status = diff_header(d);
    util_mute(false);
    if (status == 0) status = data(d, merge);
    if (status != 0) {
        d->out->used = 0; /* discards an incomplete report */
        return DIFF_TROUBLE;
    }
    return diff_report_data(d);
}

/* Draws the picture. Prints a line if it does not show all variables that differ. */
static int draw(struct diff *d)
{
    int different = 0;
    if (d->options.draw == NULL && !d->options.map) return 0;
    for (int i = 0; i < d->npairs; i++)
        different += d->results[i].differing > 0;
    if (different > DIFF_MAPS)
        util_message(d->tool, NULL, -1,
                     "only the maps of the first %d of %d variables are shown", DIFF_MAPS,
                     different);
    return d->options.draw == NULL || d->nmaps == 0 ? 0 : diff_draw(d);
}

int diff_run(struct diff *d, int (*merge)(struct diff *d, int status))
{
    static struct util_out out;
    d->out = &out;
    util_out_init(&out, STDOUT_FILENO);
    int status = compare(d, merge);
    int error = d->rank == 0 ? util_out_flush(&out) : 0;
    if (error != 0) {
        util_message(d->tool, NULL, -1, "standard output: %s", strerror(error));
        status = DIFF_TROUBLE;
    }
    if (status == DIFF_DIFFERENT && d->rank == 0 && draw(d) != 0) status = DIFF_TROUBLE;
    diff_map_free(d);
    base_free(d->pairs);
    base_free(d->results);
    return status;
}
