#include "cdl_text.h"

#include <string.h>

int read_text(const char *text, int format, struct cdf_header *h)
{
    struct cdl_scan s;
    int err = cdl_scan_start(&s, "text", text, strlen(text));
    if (err == NC_NOERR) err = cdl_header(&s, format, h);
    cdl_scan_stop(&s);
    return err;
}
