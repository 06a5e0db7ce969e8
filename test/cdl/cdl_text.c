/* Parses CDL from a string; see cdl_text.h. */
#include "cdl_text.h"

#include <string.h>

int read_text(const char *text, int format, struct cdf_header *h)
{
    struct cdl_source source = {.name = "text", .text = text, .length = strlen(text)};
    return cdl_read(&source, format, NULL, NULL, h);
}
