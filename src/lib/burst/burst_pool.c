/* Threads that drain. */
#include "burst.h"

void burst_pool_start(struct burst *b)
{
    (void)b;
}
void burst_pool_stop(struct burst *b)
{
    (void)b;
}
void burst_pool_pause(struct burst_pool *p)
{
    (void)p;
}
void burst_pool_go_on(struct burst_pool *p)
{
    (void)p;
}
