// SPDX-License-Identifier: Apache-2.0
#pragma once
// Method calls over sd-bus between two ends of a private socket, without a bus daemon.

#include <stdbool.h>

/// Connects a caller and a service that adds three numbers on a thread of its own. Null on failure.
void *peer_bus_begin(void);
/// Makes `count` calls, one after the other. False if a result is not the sum.
bool peer_bus_ask(void *peer, long count);
