/* Counts messages, including those that collective calls send. SimGrid's network model
 * calls a callback for each message's latency factor, and this callback counts the
 * messages. */
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>

extern "C" {
#include "machine_impl.h"
}

namespace sg4 = simgrid::s4u;

static double count(double size, const sg4::Host *from, const sg4::Host *to,
                    const std::vector<sg4::Link *> &,
                    const std::unordered_set<sg4::NetZone *> &)
{
    static const sg4::Host *store = sg4::Host::by_name("store");
    if (from == store || to == store) return 1;
    auto bytes = static_cast<int64_t>(size);
    (from != to ? machine_count.messages : machine_count.node_messages)++;
    (from != to ? machine_count.message_bytes : machine_count.node_message_bytes) +=
        bytes;
    return 1;
}

/* Registers the callback when the program is loaded: the platform exists by then, and the
 * simulation has not started. */
__attribute__((constructor)) static void begin()
{
    const auto *root = sg4::Engine::get_instance()->get_netzone_root();
    if (root == nullptr) machine_fail("no platform", "when the program was loaded");
    root->get_network_model()->set_lat_factor_cb(count);
}
