// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>

#include "CForwardingShims.h"

// An empty table that needs no allocation. It counts as full, so it is never written to. Its free
// entry ends every search.
_Alignas(64) static const uint64_t
    empty[(sizeof(FWDMethodCache) + sizeof(FWDMethod)) / sizeof(uint64_t)];

const void *fwd_method_cache = empty;

static pthread_mutex_t methods_lock = PTHREAD_MUTEX_INITIALIZER;

// Selectors share counters, so a change for one selector also affects the lookups of a few others.
enum { EPOCHS = 64 };
static uint64_t epochs[EPOCHS];

static uint64_t *epoch_of(uintptr_t selector) {
  return &epochs[fwd_method_hash(0, selector) % EPOCHS];
}

static FWDMethodCache *allocate(size_t capacity) {
  size_t size = sizeof(FWDMethodCache) + capacity * sizeof(FWDMethod);
  FWDMethodCache *cache = aligned_alloc(64, size);
  if (!cache) return NULL;
  memset(cache, 0, size);
  cache->mask = capacity - 1;
  return cache;
}

static void dispose(FWDRetirable *retirable) {
  FWDMethodCache *cache = (FWDMethodCache *)retirable;
  for (size_t i = 0; i <= cache->mask; i++)
    if (cache->methods[i].implementation) swift_release((void *)cache->methods[i].implementation);
  free(cache);
}

static int has(const FWDMethodCache *cache, uintptr_t selector) {
  for (size_t i = 0; i <= cache->mask; i++)
    if (cache->methods[i].type && cache->methods[i].selector == selector) return 1;
  return 0;
}

// MARK: Changes

static void insert(FWDMethodCache *cache, const FWDMethod *method) {
  size_t i = fwd_method_hash(method->type, method->selector) & cache->mask;
  while (cache->methods[i].type) i = (i + 1) & cache->mask;
  if (method->implementation) swift_retain((void *)method->implementation);
  FWDMethod *at = &cache->methods[i];
  _Static_assert(offsetof(FWDMethod, type) == 0 && offsetof(FWDMethod, selector) == sizeof at->type,
                 "all else follows the type");
  // Readers may search at the same time: the type, which makes the entry visible, is written last.
  size_t first = offsetof(FWDMethod, selector);
  memcpy((char *)at + first, (const char *)method + first, sizeof *at - first);
  __atomic_store_n(&at->type, method->type, __ATOMIC_RELEASE);
  cache->count++;
}

/// Copies a table to one with another capacity, without the entries of one selector.
static FWDMethodCache *copy(const FWDMethodCache *cache, size_t capacity, uintptr_t without) {
  FWDMethodCache *made = allocate(capacity);
  if (!made) return NULL;
  for (size_t i = 0; i <= cache->mask; i++)
    if (cache->methods[i].type && cache->methods[i].selector != without)
      insert(made, &cache->methods[i]);
  return made;
}

static void retire(const void *cache) {
  if (cache && cache != (const void *)empty) fwd_retire((FWDRetirable *)cache, dispose);
}

/// Whether a table must grow for one more entry. Each entry that a search skips costs as much as a
/// hold, so a small table has much free space. No table is more than half full, so every search
/// ends.
static int is_full(const FWDMethodCache *cache) {
  size_t capacity = cache->mask + 1, share = capacity <= 4096 ? 4 : 2;
  return share * (cache->count + 1) > capacity;
}

uint64_t fwd_method_epoch(uintptr_t selector) {
  return __atomic_load_n(epoch_of(selector), __ATOMIC_ACQUIRE);
}

const uint64_t *fwd_method_changes(uintptr_t selector) { return epoch_of(selector); }

void fwd_method_remember(FWDMethod method, uint64_t seen) {
  const void *old = NULL;
  pthread_mutex_lock(&methods_lock);
  FWDMethodCache *cache = (FWDMethodCache *)fwd_method_cache;
  if (seen == *epoch_of(method.selector) &&
      !fwd_method_find(cache, method.type, method.selector)) {
    if (is_full(cache)) {
      FWDMethodCache *larger = copy(cache, cache->count ? 2 * (cache->mask + 1) : 64, 0);
      if (larger) {
        insert(larger, &method);
        old = fwd_publish(&fwd_method_cache, larger);
      }
    } else {
      insert(cache, &method);
    }
  }
  pthread_mutex_unlock(&methods_lock);
  retire(old);
}

void fwd_methods_forget(uintptr_t selector) {
  const void *old = NULL;
  pthread_mutex_lock(&methods_lock);
  const FWDMethodCache *cache = fwd_method_cache;
  if (has(cache, selector)) {
    const FWDMethodCache *made = copy(cache, cache->mask + 1, selector);
    // Without memory all entries are removed, and found again later.
    old = fwd_publish(&fwd_method_cache, made ? (const void *)made : empty);
  }
  // Last: a thread that reads the new number must find the new table, because it uses its result
  // for as long as the number stays the same.
  __atomic_add_fetch(epoch_of(selector), 1, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&methods_lock);
  retire(old);
}
