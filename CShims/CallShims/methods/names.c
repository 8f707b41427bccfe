// SPDX-License-Identifier: Apache-2.0
/// Tables of named objects, which can be removed again.
#include <stdlib.h>

#include "CForwardingShims.h"

static void insert(FWDNameTable *table, const FWDName *name, const void *thing) {
  size_t i = name->hash & table->mask;
  while (table->things[i].name) i = (i + 1) & table->mask;
  swift_retain((void *)thing);
  table->things[i] = (FWDNamed){name, thing};
  table->count++;
}

const void *fwd_names_change(const void **cell, const void *without, const FWDName *name,
                             const void *thing) {
  const FWDNameTable *table = *cell;
  // At most half full, so that searches are short and always end.
  size_t capacity = 8, count = table ? table->count : 0;
  while (capacity < 2 * (count + 1)) capacity *= 2;
  FWDNameTable *made = calloc(1, sizeof *made + capacity * sizeof made->things[0]);
  if (!made) abort();
  made->mask = capacity - 1;
  for (size_t i = 0; table && i <= table->mask; i++) {
    const FWDNamed *named = &table->things[i];
    if (named->name && named->thing != without) insert(made, named->name, named->thing);
  }
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
