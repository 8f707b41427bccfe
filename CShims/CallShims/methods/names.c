// SPDX-License-Identifier: Apache-2.0
/// Tables of named objects, which can be removed again.
#include <stdlib.h>

#include "CForwardingShims.h"

static FWDNameTable *allocate(size_t capacity) {
  FWDNameTable *table = calloc(1, sizeof *table + capacity * sizeof table->things[0]);
  if (!table) abort();
  table->mask = capacity - 1;
  return table;
}

static void insert(FWDNameTable *table, const FWDName *name, const void *thing) {
  size_t i = name->hash & table->mask;
  while (table->things[i].name) i = (i + 1) & table->mask;
  swift_retain((void *)thing);
  table->things[i].thing = thing;
  // Readers may search at the same time: the name, which makes the object visible, is written last.
  __atomic_store_n(&table->things[i].name, name, __ATOMIC_RELEASE);
  table->count++;
}

/// Copies a table to one with another capacity, without one object.
static FWDNameTable *copy(const FWDNameTable *table, size_t capacity,
                          const void *_Nullable without) {
  FWDNameTable *made = allocate(capacity);
  for (size_t i = 0; table && i <= table->mask; i++) {
    const FWDNamed *named = &table->things[i];
    if (named->name && named->thing != without) insert(made, named->name, named->thing);
  }
  return made;
}

const void *fwd_names_add(const void **cell, const FWDName *name, const void *thing) {
  FWDNameTable *table = (FWDNameTable *)*cell;
  // At most half full, so that searches are short and always end.
  if (table && 2 * (table->count + 1) <= table->mask + 1) {
    insert(table, name, thing);
    return NULL;
  }
  FWDNameTable *larger = copy(table, table ? 2 * (table->mask + 1) : 8, NULL);
  insert(larger, name, thing);
  return fwd_publish(cell, larger);
}

const void *fwd_names_replace(const void **cell, const void *old, const FWDName *name,
                              const void *thing) {
  const FWDNameTable *table = *cell;
  // The capacity shrinks after most objects were removed.
  size_t capacity = table->mask + 1;
  if (capacity > 8 && 8 * table->count < capacity) capacity /= 2;
  FWDNameTable *made = copy(table, capacity, old);
  if (name && thing) insert(made, name, thing);
  return fwd_publish(cell, made);
}

static void dispose(FWDRetirable *retirable) {
  FWDNameTable *table = (FWDNameTable *)retirable;
  for (size_t i = 0; i <= table->mask; i++)
    if (table->things[i].thing) swift_release((void *)table->things[i].thing);
  free(table);
}

void fwd_names_retire(const void *table) {
  if (table) fwd_retire((FWDRetirable *)table, dispose);
}
