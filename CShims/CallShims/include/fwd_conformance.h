#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma clang assume_nonnull begin

// On which global actor a Swift class conforms to a protocol: `final class Screen: @MainActor Ticking`. The compiler
// refuses calls of such a conformance from elsewhere, but does not see a message.

/// What the Swift runtime says of a conformance that it found. There is room for more than is looked at.
typedef struct FWDConformanceContext {
  /// The type of the global actor; null for none.
  const void *_Nullable actor;
  const void *_Nullable more[15];
} FWDConformanceContext;
_Static_assert(sizeof(FWDConformanceContext) == 16 * sizeof(void *), "there is room for 16 words");

// The entry point of the Swift runtime that `as?` goes through, since Swift 6.2. It writes as many bytes as
// `swift_ConformanceExecutionContextSize` says. Where a runtime has none of it, both are null.
extern const void *_Nullable swift_conformsToProtocolWithExecutionContext(
    const void *type, const void *protocol, FWDConformanceContext *context) __attribute__((weak));
extern const size_t swift_ConformanceExecutionContextSize __attribute__((weak));

/// Returns whether a conformance is isolated to a global actor: bit 19 of the flags in its descriptor, which begins a
/// witness table. The caller has the table from Swift.
static inline bool fwd_conformance_is_isolated(const void *witness_table) {
  const char *descriptor;
  uint32_t flags;
  memcpy(&descriptor, witness_table, sizeof descriptor);
  memcpy(&flags, descriptor + 12, sizeof flags);
  return flags >> 19 & 1;
}

/// Returns the one protocol of an existential type; null for a type that is none, or of several. The caller has the
/// type from Swift.
static inline const void *_Nullable fwd_existential_protocol(const void *type) {
  struct {
    uintptr_t kind;
    uint32_t flags, count;
    const void *_Nullable first[2];
  } existential;
  memcpy(&existential, type, sizeof existential.kind);
  // Other kinds of types are shorter.
  if (existential.kind != 0x303) return NULL;
  memcpy(&existential, type, offsetof(__typeof__(existential), first));
  if (existential.count != 1) return NULL;
  // A superclass is in front of the protocol.
  size_t skipped = existential.flags >> 30 & 1;
  const void *protocol;
  memcpy(&protocol, (const char *)type + offsetof(__typeof__(existential), first) + 8 * skipped,
         sizeof protocol);
  return protocol;
}

/// Looks for the conformance of a class to a protocol, both from Swift, as a cast does. Returns its witness table, or
/// null where there is none or the runtime cannot be asked, and writes the type of its actor, null for none.
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
