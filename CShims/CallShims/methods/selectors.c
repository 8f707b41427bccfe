// SPDX-License-Identifier: Apache-2.0
/// Selectors: permanent names of messages.
#include <pthread.h>
#include <stdlib.h>

#include "CForwardingShims.h"
#include "../threads/fwd_hold_internal.h"

// Never written to, because it counts as full: the first name creates a larger table. The free slot
// ends every search.
static const FWDSelectors empty = {.names = {NULL, NULL}};

const FWDSelectors *fwd_selectors = &empty;

static pthread_mutex_t selectors_lock = PTHREAD_MUTEX_INITIALIZER;

FWDName *fwd_name_create(const char *bytes, size_t length) {
  FWDName *name = malloc(sizeof *name + length + 1);
  if (!name || length > UINT32_MAX) abort();
  name->hash = fwd_name_hash(bytes, length);
  name->length = (uint32_t)length;
  name->colons = 0;
  for (size_t i = 0; i < length; i++) name->colons += bytes[i] == ':';
  memcpy(name->bytes, bytes, length);
  name->bytes[length] = 0;
  return name;
}

/// Hashes the word of a selector, which is the address of its name's bytes.
static size_t hash_of_word(uintptr_t word) {
  return (size_t)((word >> 4) * 0x9E3779B97F4A7C15u >> 32);
}

static void put(const FWDName **places, size_t mask, size_t hash, const FWDName *name) {
  size_t i = hash & mask;
  while (places[i]) i = (i + 1) & mask;
  // Readers may search at the same time; the contents of the name were written before.
  __atomic_store_n(&places[i], name, __ATOMIC_RELEASE);
}

/// Adds a name to a table that has room for it.
static void insert(FWDSelectors *table, const FWDName *name) {
  // The address is added first: a thread that finds the name may look up its address at once.
  put(table->names + table->mask + 1, table->mask, hash_of_word((uintptr_t)name->bytes), name);
  put(table->names, table->mask, name->hash, name);
  table->count++;
}

static FWDSelectors *grown(const FWDSelectors *table) {
  size_t capacity = table->count ? 2 * (table->mask + 1) : 256;
  FWDSelectors *made = calloc(1, sizeof *made + 2 * capacity * sizeof made->names[0]);
  if (!made) abort();
  made->mask = capacity - 1;
  // Keeps the old table reachable for leak checkers.
  made->previous = table;
  for (size_t i = 0; i <= table->mask; i++)
    if (table->names[i]) insert(made, table->names[i]);
  return made;
}

const FWDName *fwd_selector_intern(const char *bytes, size_t length) {
  pthread_mutex_lock(&selectors_lock);
  const FWDName *name = fwd_selector_find(bytes, length);
  if (!name) {
    FWDName *made = fwd_name_create(bytes, length);
    FWDSelectors *table = (FWDSelectors *)fwd_selectors;
    // At most half full, so that searches are short and always end.
    if (2 * (table->count + 1) > table->mask + 1) {
      table = grown(table);
      insert(table, made);
      __atomic_store_n(&fwd_selectors, table, __ATOMIC_RELEASE);
    } else {
      insert(table, made);
    }
    name = made;
  }
  pthread_mutex_unlock(&selectors_lock);
  return name;
}

int fwd_selector_is_known(uintptr_t word) {
  const FWDSelectors *table = __atomic_load_n(&fwd_selectors, __ATOMIC_ACQUIRE);
  const FWDName *const *places = table->names + table->mask + 1;
  // The word may be any number, so it is not dereferenced.
  size_t hash = hash_of_word(word);
  for (size_t i = hash & table->mask;; i = (i + 1) & table->mask) {
    const FWDName *name = __atomic_load_n(&places[i], __ATOMIC_ACQUIRE);
    if (!name) return 0;
    if ((uintptr_t)name->bytes == word) return 1;
  }
}
