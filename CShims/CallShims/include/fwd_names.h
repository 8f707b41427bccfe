#pragma once

#include <stdlib.h>
#include <string.h>

#include "fwd_hold.h"

#pragma clang assume_nonnull begin

// Names, and what is found by them: selectors, which stay for good, and the functions of a table, which
// come and go. Both are open hash tables that are read without a lock. Names are compared byte by byte.

/// A name that is kept.
typedef struct FWDName {
  uint64_t hash;
  uint32_t length;
  /// How many of its bytes are colons: the arguments of a message.
  uint32_t colons;
  /// The name, and a NUL behind it.
  char bytes[];
} FWDName;

_Static_assert(offsetof(FWDName, bytes) % 16 == 0, "the bytes of a name are aligned as its block is");

/// Returns the hash of a name. Not for names that somebody chooses to collide: those who look up names
/// from outside keep none of them.
static inline uint64_t fwd_name_hash(const char *bytes, size_t length) {
  uint64_t hash = length, word = 0;
  for (; length >= 8; bytes += 8, length -= 8) {
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  word = 0;
  // In pieces of fixed size: to copy a few bytes by their number is a call.
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

/// Says whether a name has these bytes, whose hash the caller has found. Nothing is kept, and no lock taken:
/// a name never changes.
static inline int fwd_name_is(const FWDName *name, uint64_t hash, const char *bytes, size_t length) {
  if (name->hash != hash || name->length != length) return 0;
  // Names of up to eight bytes have no hash in common: each step of it can be undone.
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

/// Makes a name, which the caller owns and frees with `fwd_name_free`. Stops the process where there is no memory,
/// as Swift does for its own objects.
FWDName *fwd_name_create(const char *bytes, size_t length);

/// Frees a name that `fwd_name_create` made, and that nobody can find any more. Called once by its owner, on
/// any thread; not for selectors, which stay.
static inline void fwd_name_free(FWDName *name) { free(name); }

/// Returns the bytes of a name and the NUL behind them, borrowed from the name. For Swift, which sees no array
/// without a length.
static inline const char *fwd_name_bytes(const FWDName *name) { return name->bytes; }

// MARK: Selectors

// A selector is the address of a name's bytes. Names are never freed, so a table only grows; one that
// has become too small stays for those who are reading it, which is less than the new one in all.

typedef struct FWDSelectors {
  size_t mask;
  size_t count;
  const struct FWDSelectors *_Nullable previous;
  /// `mask + 1` places by hash of the names, and as many by hash of their addresses.
  const FWDName *_Nullable names[];
} FWDSelectors;

/// The current table.
extern const FWDSelectors *fwd_selectors;

/// Returns a selector that is interned, or NULL. Takes no lock, and keeps nothing: names from anywhere may be
/// looked up, on any thread. What it returns lives as long as the process.
static inline const FWDName *_Nullable fwd_selector_find(const char *bytes, size_t length) {
  uint64_t hash = fwd_name_hash(bytes, length);
  const FWDSelectors *table = __atomic_load_n(&fwd_selectors, __ATOMIC_ACQUIRE);
  for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
    const FWDName *name = __atomic_load_n(&table->names[i], __ATOMIC_ACQUIRE);
    if (!name || fwd_name_is(name, hash, bytes, length)) return name;
  }
}

/// Returns the selector of a name, which is kept for good. The bytes have no NUL; they are copied. Stops
/// the process where there is no memory. Takes a lock of its own.
const FWDName *fwd_selector_intern(const char *bytes, size_t length);

/// Says whether a word is the address of a selector's bytes, and follows it for that nowhere. Takes no
/// lock.
int fwd_selector_is_known(uintptr_t word);

/// Returns the name whose bytes are at `word`. The caller knows that this is the word of a selector, as it was
/// handed out as one, or `fwd_selector_is_known` said so.
static inline const FWDName *fwd_selector_name(uintptr_t word) {
  return (const FWDName *)(word - offsetof(FWDName, bytes));
}

// MARK: Things that have names

// A cell has the table of one owner, who makes all changes under a lock of its own. Adding writes into the
// table, where readers look on; everything else puts another table in its place.

/// A name, and a Swift object that is found by it. The object owns the name, and the table has retained
/// the object.
typedef struct FWDNamed {
  /// NULL in a free place, and written last.
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

/// Returns what has a name, or NULL. The caller holds the table, or has the owner's lock; the thing is good
/// for as long. Things may be added meanwhile.
static inline const void *_Nullable fwd_named_find(const FWDNameTable *table, const char *bytes,
                                                   size_t length) {
  uint64_t hash = fwd_name_hash(bytes, length);
  for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
    const FWDName *name = __atomic_load_n(&table->things[i].name, __ATOMIC_ACQUIRE);
    if (!name) return NULL;
    if (fwd_name_is(name, hash, bytes, length)) return table->things[i].thing;
  }
}

/// Returns what is at a place of a table, up to its `mask`; NULL for a free place. The caller has the
/// owner's lock.
static inline const void *_Nullable fwd_named_at(const FWDNameTable *table, size_t index) {
  return table->things[index].thing;
}

/// Adds a thing, retained, whose name nothing in the table has. Returns the table that was replaced, which
/// the caller passes to `fwd_names_retire`, or NULL. The caller has the owner's lock, and keeps the thing
/// alive until it is in the table. Stops the process where there is no memory.
const void *_Nullable fwd_names_add(const void *_Nullable *_Nonnull cell, const FWDName *name,
                                    const void *thing);

/// Takes a thing out that is in the table, and in the same moment puts another of the same name in its
/// place, if there is one. Returns the table that was replaced, and asks for the same, as `fwd_names_add`
/// does; what was taken out lives until that table is disposed of.
const void *fwd_names_replace(const void *_Nullable *_Nonnull cell, const void *old,
                              const FWDName *_Nullable name, const void *_Nullable thing);

/// Lets go of a table that was replaced, and of what is in no other one, once no thread holds it: no lock
/// may be held.
void fwd_names_retire(const void *_Nullable table);

#pragma clang assume_nonnull end
