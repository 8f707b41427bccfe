#include <pthread.h>
#include <stdlib.h>

#include "CForwardingShims.h"

// Never written to, as it is never filled: an empty table that needs no memory. An entry that is
// free ends every search.
_Alignas(64) static const uint64_t
    empty[(sizeof(FWDMethodCache) + sizeof(FWDMethod)) / sizeof(uint64_t)];

const void *fwd_method_cache = empty;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t epoch;

static FWDMethodCache *allocate(size_t capacity) {
  size_t size = sizeof(FWDMethodCache) + capacity * sizeof(FWDMethod);
  FWDMethodCache *cache = aligned_alloc(64, size);
  if (!cache) return NULL;
  memset(cache, 0, size);
  cache->mask = capacity - 1;
  return cache;
}

static void dispose(void *pointer) {
  FWDMethodCache *cache = pointer;
  for (size_t i = 0; i <= cache->mask; i++)
    if (cache->methods[i].implementation) swift_release((void *)cache->methods[i].implementation);
  free(cache);
}

static void insert(FWDMethodCache *cache, const FWDMethod *method) {
  size_t i = fwd_method_hash(method->type, method->selector) & cache->mask;
  while (cache->methods[i].type) i = (i + 1) & cache->mask;
  if (method->implementation) swift_retain((void *)method->implementation);
  FWDMethod *at = &cache->methods[i];
  // Readers are looking on: everything else first, and then the type, which shows it to them.
  size_t first = offsetof(FWDMethod, selector);
  memcpy((char *)at + first, (const char *)method + first, sizeof *at - first);
  __atomic_store_n(&at->type, method->type, __ATOMIC_RELEASE);
  cache->count++;
}

uint64_t fwd_method_epoch(void) {
  return __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
}

void fwd_method_remember(FWDMethod method, uint64_t seen) {
  void *old = NULL;
  pthread_mutex_lock(&lock);
  FWDMethodCache *cache = (FWDMethodCache *)fwd_method_cache;
  if (seen == epoch && !fwd_method_find(cache, method.type, method.selector)) {
    // At most half full, so that a search stays short and always ends.
    if (2 * (cache->count + 1) > cache->mask + 1) {
      size_t capacity = cache->count ? 2 * (cache->mask + 1) : 16;
      FWDMethodCache *larger = allocate(capacity);
      if (larger) {
        for (size_t i = 0; i <= cache->mask; i++)
          if (cache->methods[i].type) insert(larger, &cache->methods[i]);
        insert(larger, &method);
        old = fwd_publish(&fwd_method_cache, larger);
      }
    } else {
      insert(cache, &method);
    }
  }
  pthread_mutex_unlock(&lock);
  if (old && old != (const void *)empty) fwd_retire(old, dispose);
}

void fwd_methods_forget(void) {
  pthread_mutex_lock(&lock);
  __atomic_store_n(&epoch, epoch + 1, __ATOMIC_RELEASE);
  void *old = fwd_publish(&fwd_method_cache, empty);
  pthread_mutex_unlock(&lock);
  if (old != (const void *)empty) fwd_retire(old, dispose);
}
