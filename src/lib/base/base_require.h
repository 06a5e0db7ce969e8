/* Invariants that are checked in production, wherever the library would otherwise write
 * wrong bytes. A violated invariant is a defect of the library, or memory that something
 * else has overwritten.
 *
 * The function that finds the violation returns NC_EINTERNAL before it writes anything,
 * and the message names the invariant. From then on this process writes nothing more to
 * the datasets that it has open (dataset_may_write), because other state may be wrong
 * too. They can be closed; datasets that are opened later can be written. The program is
 * never ended.
 *
 * A check costs one branch that the processor predicts. Conditions must have no side
 * effects. They must not depend on input: invalid files and arguments have errors of
 * their own. */
#ifndef BASE_REQUIRE_H
#define BASE_REQUIRE_H

#include <stdatomic.h>
#include <stdint.h>

#include "pnetcdf_constants.h"

#if defined(__GNUC__)
#define BASE_EXPECTED(condition) __builtin_expect(!!(condition), 1)
#else
#define BASE_EXPECTED(condition) (!!(condition))
#endif

/* Evaluates to NC_NOERR if the condition holds, else to NC_EINTERNAL. */
#define base_holds(condition)                                                            \
    (BASE_EXPECTED(condition) ? NC_NOERR : base_violated(#condition, __FILE__, __LINE__))

/* Returns NC_EINTERNAL from the calling function unless the condition holds. */
#define base_require(condition)                                                          \
    do {                                                                                 \
        if (!BASE_EXPECTED(condition))                                                   \
            return base_violated(#condition, __FILE__, __LINE__);                        \
    } while (0)

/* Records a violation, with its message. Returns NC_EINTERNAL. Threads may call this. */
int base_violated(const char *condition, const char *file, int line);

/* The number of violations in this process. */
extern _Atomic int64_t base_violation_count;
#define base_violations()                                                                \
    atomic_load_explicit(&base_violation_count, memory_order_relaxed)

/* Sets the message of the first violation again, for a call that is refused because of
 * it. Returns NC_EINTERNAL. */
int base_refuse_after_violation(void);

#ifdef __clang_analyzer__ /* the analyzer cannot see that these functions return an      \
                           * error */
#define base_violated(condition, file, line)                                             \
    ((void)(base_violated)(condition, file, line), NC_EINTERNAL)
#define base_refuse_after_violation()                                                    \
    ((void)(base_refuse_after_violation)(), NC_EINTERNAL)
#endif

#endif
