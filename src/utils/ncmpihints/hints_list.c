/* Prints the library's hints as text, JSON or a Markdown table. */
#include <stdio.h>
#include <string.h>

#include "hints_table.h"
#include "hints_tool.h"
#include "util_message.h"

static const struct group {
    const char *word, *title;
} groups[] = {
    [HINTS_GROUP_MAIN] = {"main", "Hints"},
    [HINTS_GROUP_BURST] = {"burst", "Hints for the burst buffer"},
    [HINTS_GROUP_STAGE] = {"stage", "Hints for staged reads"},
    [HINTS_GROUP_UNUSED] = {"unused", "Accepted without effect"},
};
enum { GROUPS = sizeof groups / sizeof groups[0], WIDTH = 88 };

/* Prints text between margins, without Markdown's backquotes. */
static void fill(struct util_out *out, int margin, const char *text)
{
    int column = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " "), shown = 0;
        for (size_t i = 0; i < length; i++)
            shown += text[i] != '`';
        if (column > 0 && column + 1 + (int)shown > WIDTH) {
            util_out_text(out, "\n");
            column = 0;
        }
        if (column == 0) util_out_print(out, "%*s", margin, "");
        column = column == 0 ? margin : column + 1;
        if (column > margin) util_out_text(out, " ");
        for (size_t i = 0; i < length; i++)
            if (text[i] != '`') util_out_bytes(out, &text[i], 1);
        column += (int)shown;
        text += length + (text[length] == ' ');
    }
    util_out_text(out, "\n");
}

static void show(struct util_out *out, const struct hints_row *t)
{
    char line[400];
    bool none = *t->without == '\0';
    util_out_print(out, "  %s\n", t->key);
    snprintf(line, sizeof line, "%s%s%s", t->values,
             none ? "" : "; default: ", t->without);
    fill(out, 6, line);
    fill(out, 6, t->what);
}

static void list_json(struct util_json *j)
{
    for (const struct hints_row *t = hints_table; t->key != NULL; t++) {
        util_json_open(j, NULL, '{');
        util_json_text(j, "hint", t->key);
        util_json_text(j, "group", groups[t->group].word);
        util_json_text(j, "values", t->values);
        util_json_text(j, "without", t->without);
        util_json_text(j, "what", t->what);
        util_json_close(j, '}');
    }
}

void hints_list(struct util_out *out, struct util_json *j)
{
    if (j != NULL) {
        list_json(j);
        return;
    }
    for (int g = 0; g < GROUPS; g++) {
        util_out_print(out, "%s%s\n\n", g == 0 ? "" : "\n", groups[g].title);
        for (const struct hints_row *t = hints_table; t->key != NULL; t++)
            if ((int)t->group == g) show(out, t);
    }
}

int hints_print_table(const char *group, struct util_out *out)
{
    int g = 0;
    while (g < GROUPS && strcmp(groups[g].word, group) != 0)
        g++;
    if (g == GROUPS) {
        util_message(HINTS_TOOL, NULL, -1,
                     "no group '%s'; the groups are main, burst, stage and unused",
                     group);
        return -1;
    }
    util_out_text(out, "| hint | values | default | meaning |\n"
                       "|---|---|---|---|\n");
    for (const struct hints_row *t = hints_table; t->key != NULL; t++)
        if ((int)t->group == g)
            util_out_print(out, "| `%s` | %s |%s%s | %s |\n", t->key, t->values,
                           *t->without == '\0' ? "" : " ", t->without, t->what);
    return 0;
}
