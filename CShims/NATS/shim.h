// SPDX-License-Identifier: Apache-2.0
// Only the trait `NATS` needs libnats. Where it is absent, a sentence says what to do.
#if __has_include(<nats/nats.h>) && !defined(FWD_WITHOUT_LIBNATS)
#include <nats/nats.h>
#else
#error "the trait NATS needs libnats and its headers (apt-get install libnats-dev); build without the trait if you do not use NATSTransport"
#endif
