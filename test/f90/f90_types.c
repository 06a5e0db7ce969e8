/* Runs the test bodies that m4 generates in Fortran. */
#include "check.h"

void every_text(void);
void every_int1(void);
void every_int2(void);
void every_int(void);
void every_int8(void);
void every_real(void);
void every_double(void);

static const struct check_test tests[] = {
    {"every function, character, ranks 0 to 7", every_text, 0},
    {"every function, integer of 1 byte, ranks 0 to 7", every_int1, 0},
    {"every function, integer of 2 bytes, ranks 0 to 7", every_int2, 0},
    {"every function, integer of 4 bytes, ranks 0 to 7", every_int, 0},
    {"every function, integer of 8 bytes, ranks 0 to 7", every_int8, 0},
    {"every function, real of 4 bytes, ranks 0 to 7", every_real, 0},
    {"every function, real of 8 bytes, ranks 0 to 7", every_double, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
