// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma clang assume_nonnull begin

// The global actor of a Swift class's conformance to a protocol, as in `final class Screen:
// @MainActor Ticking`. The compiler rejects calls through such a conformance from elsewhere, but it
// does not see messages.

/// The runtime's information about a conformance, with more room than is read here.
typedef struct FWDConformanceContext {
  /// The type of the global actor; NULL without one.
  const void *_Nullable actor;
  const void *_Nullable more[15];
} FWDConformanceContext;
_Static_assert(sizeof(FWDConformanceContext) == 16 * sizeof(void *), "there is room for 16 words");

// The entry point of the Swift runtime behind `as?`, since Swift 6.2. It writes
// `swift_ConformanceExecutionContextSize` bytes. Both are NULL in older runtimes.
extern const void *_Nullable swift_conformsToProtocolWithExecutionContext(
    const void *type, const void *protocol, FWDConformanceContext *context) __attribute__((weak));
extern const size_t swift_ConformanceExecutionContextSize __attribute__((weak));

/// Returns whether a conformance is isolated to a global actor: bit 19 of the flags in the
/// descriptor to which the first word of a witness table points. The caller got the table from
/// Swift.
static inline bool fwd_conformance_is_isolated(const void *witness_table) {
  const char *descriptor;
  uint32_t flags;
  memcpy(&descriptor, witness_table, sizeof descriptor);
  memcpy(&flags, descriptor + 12, sizeof flags);
  return flags >> 19 & 1;
}

/// Returns the protocol of an existential type; NULL for another type, or for several protocols.
/// The caller got the type from Swift.
static inline const void *_Nullable fwd_existential_protocol(const void *type) {
  struct {
    uintptr_t kind;
    uint32_t flags, count;
    const void *_Nullable first[2];
  } existential;
  memcpy(&existential, type, sizeof existential.kind);
  // Metadata of other kinds is shorter.
  if (existential.kind != 0x303) return NULL;
  memcpy(&existential, type, offsetof(__typeof__(existential), first));
  if (existential.count != 1) return NULL;
  // A superclass precedes the protocol.
  size_t skipped = existential.flags >> 30 & 1;
  const void *protocol;
  memcpy(&protocol, (const char *)type + offsetof(__typeof__(existential), first) + 8 * skipped,
         sizeof protocol);
  return protocol;
}

/// Finds the conformance of a class to a protocol, like a dynamic cast. Returns its witness table,
/// or NULL if it does not exist or the runtime has no such function. Writes the type of its actor,
/// or NULL. The caller got class and protocol from Swift.
static inline const void *_Nullable fwd_conformance_of(const void *type, const void *protocol,
                                                       const void *_Nullable *_Nonnull actor) {
  *actor = NULL;
  if (!swift_conformsToProtocolWithExecutionContext) return NULL;
  FWDConformanceContext context = {0};
  if (!&swift_ConformanceExecutionContextSize ||
      swift_ConformanceExecutionContextSize > sizeof context)
    return NULL;
  const void *table = swift_conformsToProtocolWithExecutionContext(type, protocol, &context);
  *actor = context.actor;
  return table;
}

#pragma clang assume_nonnull end
