/* The CDL grammar. The actions call cdl_define.c or the sink. A rule that uses a part of
 * a string, or ends the parsing, must not need a lookahead token. The parser therefore
 * makes default reductions without reading one. */
%define api.pure full
%define api.prefix {cdl_yy}
%define api.token.prefix {CDL_}
%define api.location.type {struct cdl_place}
%define lr.type ielr
%define lr.default-reduction consistent
%define parse.error custom
%locations
%parse-param {struct cdl_reader *r} {void *scanner}
%lex-param {void *scanner}

%code requires {
#include "cdl_reader.h"
}

%code {
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"

/* Lists are left-recursive, so the stack remains small however long they are. */
#define YYINITDEPTH 64
#define YYMAXDEPTH 64
#define YYMALLOC base_malloc
#define YYFREE base_free

#define YYLLOC_DEFAULT(Current, Rhs, N) (Current) = YYRHSLOC(Rhs, (N) > 0)

int cdl_yylex(CDL_YYSTYPE *value, struct cdl_place *at, void *scanner);
char *cdl_yyget_text(void *scanner);
static void yyerror(struct cdl_place *at, struct cdl_reader *r, void *scanner,
                    const char *message);

/* Used in actions: stops the parser after an error. */
#define TRY(call)                                                                        \
    do {                                                                                 \
        r->err = (call);                                                                 \
        if (r->err != NC_NOERR) YYABORT;                                                 \
    } while (0)
}

%union {
    const char *name;
    int type;
    struct cdl_number number;
    struct cdl_part part;
    int64_t length;
    struct cdl_owner owner;
}

%token <name> NAME "a name"
%token '=' '(' ',' ')' ';' ':' '{'
%token NETCDF "'netcdf'" DIMENSIONS_WORD "'dimensions:'" VARIABLES_WORD "'variables:'"
%token DATA_WORD "'data:'" UNLIMITED "UNLIMITED" FILL "'_'"
%token QUOTE "text" UNQUOTE "the end of text"
%token <type> TYPE "a type"
%token <number> NUMBER "a number"
%token <part> PART "more text"
%token BAD "an invalid token" YYEOF 0 "the end"

%type <length> length
%type <type> variables
%type <owner> owner

%%

dataset:
    NETCDF '{' definitions end YYEOF    { (void)yynerrs; }

end:
    '}'                     { TRY(cdl_define_end(r, @1)); }
|   DATA_WORD ':'           { TRY(cdl_define_end(r, @1));
                              if (r->sink == NULL) YYACCEPT; }
    assignments '}'

definitions:
    attributes
|   definitions DIMENSIONS_WORD ':' dimension_section
|   definitions VARIABLES_WORD ':' variable_section

attributes:
    %empty
|   attributes attribute ';'

/* ---- dimensions ---- */

dimension_section:
    %empty
|   dimension_section dimensions ';'
|   dimension_section attribute ';'

dimensions:
    dimension
|   dimensions ',' dimension

dimension:
    NAME '=' length         { TRY(cdl_define_dim(r, @1, $1, $3)); }

length:
    NUMBER                  { TRY(cdl_length(r, @1, &$1, &$$)); }
|   UNLIMITED               { $$ = NC_UNLIMITED; }

/* ---- variables ---- */

variable_section:
    %empty
|   variable_section variables ';'
|   variable_section attribute ';'

variables:
    TYPE NAME               { strcpy(r->variable, $2); }
    shape                   { TRY(cdl_define_var(r, @2, $1)); $$ = $1; }
|   variables ',' NAME      { strcpy(r->variable, $3); }
    shape                   { TRY(cdl_define_var(r, @3, $1)); $$ = $1; }

shape:
    %empty                  { r->ndims = 0; }
|   '('                     { r->ndims = 0; }
    shape_dimensions ')'

shape_dimensions:
    NAME                    { TRY(cdl_add_dim(r, @1, $1)); }
|   shape_dimensions ',' NAME   { TRY(cdl_add_dim(r, @3, $3)); }

/* ---- attributes ---- */

attribute:
    owner ':'               { TRY(cdl_find_owner(r, @1, &$1)); }
    NAME '='                { cdl_values_begin(&r->values); }
    values                  { TRY(cdl_define_att(r, @4, &$1, $4)); }

owner:
    %empty                  { $$ = (struct cdl_owner){NULL, NC_GLOBAL, 0}; }
|   TYPE                    { $$ = (struct cdl_owner){NULL, NC_GLOBAL, $1}; }
|   NAME                    { $$ = (struct cdl_owner){$1, 0, 0}; }
|   TYPE NAME               { $$ = (struct cdl_owner){$2, 0, $1}; @$ = @2; }

/* ---- values ---- */

values:
    %empty
|   value_list

value_list:
    value
|   value_list ',' value

value:
    NUMBER                  { TRY(cdl_add_number(r, @1, &$1)); }
|   FILL                    { TRY(cdl_add_fill(r, @1)); }
|   QUOTE                   { TRY(cdl_begin_string(r, @1)); }
    parts UNQUOTE           { TRY(cdl_end_string(r)); }

parts:
    %empty
|   parts PART              { TRY(cdl_add_string_part(r, $2.bytes, $2.n)); }

/* ---- data ---- */

assignments:
    %empty
|   assignments NAME '='    { TRY(cdl_begin_variable(r, @2, $2)); }
    values ';'              { TRY(r->sink->variable_end(r->to)); }

%%

/* Called only if out of memory or if the parser's stack is full. */
static void yyerror(struct cdl_place *at, struct cdl_reader *r, void *scanner,
                    const char *message)
{
    (void)scanner;
    if (r->err == NC_NOERR) r->err = cdl_fail(r, *at, NC_ENOMEM, "%s", message);
}

/* ---- expected tokens ---- */

enum { MOST = 16 };

struct wish {
    yysymbol_kind_t kinds[MOST];
    int n;
};

static bool wishes(const struct wish *w, yysymbol_kind_t kind)
{
    for (int i = 0; i < w->n; i++)
        if (w->kinds[i] == kind) return true;
    return false;
}

static const char *whose_name(const struct cdl_reader *r)
{
    if (r->section == CDL_DATA) return "a variable's name";
    if (r->colon) return "an attribute's name";
    return r->section == CDL_DIMENSIONS || r->bracket ? "a dimension's name"
                                                      : "a variable's name";
}

/* Returns the name of an expected token for an error message, or NULL if another token
 * implies it. */
static const char *called(const struct cdl_reader *r, const struct wish *w, int i,
                          char quoted[4])
{
    yysymbol_kind_t kind = w->kinds[i];
    switch (kind) {
    case YYSYMBOL_NAME:
        return whose_name(r);
    case YYSYMBOL_NUMBER:
        return wishes(w, YYSYMBOL_UNLIMITED) ? "a length" : "a value";
    case YYSYMBOL_QUOTE:
    case YYSYMBOL_FILL:
        return NULL;
    default:
        break;
    }
    const char *name = yysymbol_name(kind);
    if (strlen(name) > 1) return name;
    snprintf(quoted, 4, "'%.1s'", name);
    return quoted;
}

static void list(const struct cdl_reader *r, const struct wish *w, char *text, size_t size)
{
    size_t used = 0, before = 0; /* `before` is the end of the next-to-last name */
    int names = 0;
    for (int i = 0; i < w->n && used < size; i++) {
        char quoted[4];
        const char *name = called(r, w, i, quoted);
        if (name == NULL) continue;
        if (names++ > 0) before = used;
        used += (size_t)snprintf(text + used, size - used, "%s%s", before > 0 ? ", " : "",
                                 name);
    }
    if (before == 0 || used >= size) return;
    char last[64];
    snprintf(last, sizeof last, "%s", text + before + 2);
    snprintf(text + before, size - before, " or %s", last);
}

static int yyreport_syntax_error(const yypcontext_t *context, struct cdl_reader *r,
                                 void *scanner)
{
    struct wish w;
    char text[200];
    if (r->err != NC_NOERR) return 0; /* the scanner has reported the error */
    w.n = yypcontext_expected_tokens(context, w.kinds, MOST);
    if (!wishes(&w, YYSYMBOL_DIMENSIONS_WORD))
        list(r, &w, text, sizeof text);
    else
        strcpy(text, r->section == CDL_NO_SECTION
                         ? "'dimensions:', 'variables:', 'data:' or '}'"
                         : "a definition or '}'");
    if (yypcontext_token(context) == YYSYMBOL_YYEOF)
        r->err = cdl_fail(r, *yypcontext_location(context), NC_ENOTNC,
                          "unexpected end of text, expected %s", text);
    else
        r->err = cdl_fail(r, *yypcontext_location(context), NC_ENOTNC,
                          "unexpected '%.40s', expected %s", cdl_yyget_text(scanner),
                          text);
    return 0;
}
