// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>
#include <string.h>

#include "fwd_hold.h"

#pragma clang assume_nonnull begin

// Interned names, and objects found by name: selectors, which are permanent, and the functions of a
// table, which are added and removed. Both are hash tables with open addressing, which are read
// without a lock. Names are compared byte by byte.

/// A stored name.
typedef struct FWDName {
  uint64_t hash;
  uint32_t length;
  /// The number of colons, which is the number of a message's arguments.
  uint32_t colons;
  /// The bytes of the name, followed by a NUL.
  char bytes[];
} FWDName;

_Static_assert(offsetof(FWDName, bytes) % 16 == 0, "the bytes of a name are aligned as its block is");

/// Returns the hash of a name. It does not resist names chosen to collide: code that looks up names
/// from untrusted sources does not store them.
static inline uint64_t fwd_name_hash(const char *bytes, size_t length) {
  uint64_t hash = length, word = 0;
  for (; length >= 8; bytes += 8, length -= 8) {
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  word = 0;
  // In pieces of fixed size: copying a variable number of bytes is a function call.
  if (length & 4) memcpy(&word, bytes, 4), bytes += 4;
  if (length & 2) {
    uint16_t part;
    memcpy(&part, bytes, 2), bytes += 2;
    word = word << 16 | part;
  }
  if (length & 1) word = word << 8 | (uint8_t)*bytes;
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

/// Returns whether a name has these bytes; the caller has computed their hash. Takes no lock: a
/// name is immutable.
static inline int fwd_name_is(const FWDName *name, uint64_t hash, const char *bytes, size_t length) {
  if (name->hash != hash || name->length != length) return 0;
  // Names of one length up to eight bytes have different hashes: each step is invertible.
  if (length <= 8) return 1;
  uint64_t one, other;
  for (size_t i = 0; i < length - 8; i += 8) {
    memcpy(&one, name->bytes + i, 8);
    memcpy(&other, bytes + i, 8);
    if (one != other) return 0;
  }
  memcpy(&one, name->bytes + length - 8, 8);
  memcpy(&other, bytes + length - 8, 8);
  return one == other;
}

/// Creates a name, which the caller owns and frees with `fwd_name_free`. Without memory the process
/// stops, as in Swift's own allocations.
FWDName *fwd_name_create(const char *bytes, size_t length);

/// Frees a name that `fwd_name_create` returned, and that no table contains any more. Called once
/// by its owner, on any thread; never for selectors, which are permanent.
static inline void fwd_name_free(FWDName *name) { free(name); }

/// Returns the bytes of a name and the NUL behind them, borrowed from the name. For Swift, which
/// does not import flexible array members.
static inline const char *fwd_name_bytes(const FWDName *name) { return name->bytes; }

// MARK: Selectors

// A selector is the address of a name's bytes. Names are never freed, so a table only grows. A
// table that was replaced by a larger one remains for its readers; all of these together take less
// memory than the current table.

typedef struct FWDSelectors {
  size_t mask;
  size_t count;
  const struct FWDSelectors *_Nullable previous;
  /// `mask + 1` slots by hash of the name, and as many by hash of the address.
  const FWDName *_Nullable names[];
} FWDSelectors;

/// The current table.
extern const FWDSelectors *fwd_selectors;

/// Returns an interned selector, or NULL. Takes no lock, and interns nothing: names from any source
/// may be looked up. The result lives as long as the process. Thread-safe.
static inline const FWDName *_Nullable fwd_selector_find(const char *bytes, size_t length) {
  uint64_t hash = fwd_name_hash(bytes, length);
  const FWDSelectors *table = __atomic_load_n(&fwd_selectors, __ATOMIC_ACQUIRE);
  for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
    const FWDName *name = __atomic_load_n(&table->names[i], __ATOMIC_ACQUIRE);
    if (!name || fwd_name_is(name, hash, bytes, length)) return name;
  }
}

/// Interns a name as a selector, permanently. The bytes need no NUL; they are copied. Without
/// memory the process stops. Takes a lock of its own.
const FWDName *fwd_selector_intern(const char *bytes, size_t length);

/// Returns whether a word is the address of a selector's bytes, without dereferencing it. Takes no
/// lock.
int fwd_selector_is_known(uintptr_t word);

/// Returns the name whose bytes are at `word`. The caller knows that the word is a selector: it was
/// returned as one, or `fwd_selector_is_known` confirmed it.
static inline const FWDName *fwd_selector_name(uintptr_t word) {
  return (const FWDName *)(word - offsetof(FWDName, bytes));
}

// MARK: Named objects

// A cell has the table of one owner, who makes all changes under a lock of its own. A published table
// never changes: each change replaces it.

/// A name, and the Swift object with that name. The object owns the name, and the table retains the
/// object.
typedef struct FWDNamed {
  /// NULL in a free slot.
  const FWDName *_Nullable name;
  const void *_Nullable thing;
} FWDNamed;

typedef struct FWDNameTable {
  FWDRetirable retirable;
  size_t mask;
  size_t count;
  FWDNamed things[];
} FWDNameTable;

_Static_assert(offsetof(FWDNameTable, retirable) == 0, "what is retired is found by its beginning");

/// Returns the object with a name, or NULL. The caller holds the table, or the owner's lock; the
/// object is valid while it does.
static inline const void *_Nullable fwd_named_find(const FWDNameTable *table, const char *bytes,
                                                   size_t length) {
  uint64_t hash = fwd_name_hash(bytes, length);
  for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
    const FWDName *name = table->things[i].name;
    if (!name) return NULL;
    if (fwd_name_is(name, hash, bytes, length)) return table->things[i].thing;
  }
}

/// Returns the object in a slot of a table, at most `mask`; NULL for a free slot. The caller holds
/// the owner's lock.
static inline const void *_Nullable fwd_named_at(const FWDNameTable *table, size_t index) {
  return table->things[index].thing;
}

/// Publishes a copy of the table without the object `without`, and with another one, which is retained,
/// under a name that is not in the copy. Either may be missing. Returns the table that was replaced,
/// which the caller passes to `fwd_names_retire`; NULL for none. The caller holds the owner's lock, and
/// keeps the object alive until it is in the table. Without memory the process stops.
const void *_Nullable fwd_names_change(const void *_Nullable *_Nonnull cell,
                                       const void *_Nullable without,
                                       const FWDName *_Nullable name, const void *_Nullable thing);

/// Retires a replaced table: once no thread holds it, it is disposed of, with the objects that are
/// in no other table. The caller must hold no lock.
void fwd_names_retire(const void *_Nullable table);

#pragma clang assume_nonnull end
