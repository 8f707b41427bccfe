// SPDX-License-Identifier: Apache-2.0
/// The types of libffi closures: one for each type that was ever used, never freed.
#include <pthread.h>
#include <string.h>

#include "fwd_callback_internal.h"

enum { BUCKETS = 64 };

static FWDPlan *lasting[BUCKETS];

static int is_same_type(const ffi_type *left, const ffi_type *right) {
  if (left == right) return 1;
  if (left->type != right->type || left->size != right->size ||
      left->alignment != right->alignment)
    return 0;
  if (!left->elements || !right->elements) return left->elements == right->elements;
  ffi_type **a = left->elements, **b = right->elements;
  for (; *a && *b; a++, b++)
    if (!is_same_type(*a, *b)) return 0;
  return *a == *b;
}

static int is_same(const ffi_cif *left, const ffi_cif *right) {
  ffi_cif a, b;
  // Compares all members except the types; some platforms have additional members. Plans are zeroed
  // at first.
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  a.arg_types = b.arg_types = NULL;
  a.rtype = b.rtype = NULL;
  if (memcmp(&a, &b, sizeof a) != 0 || !is_same_type(left->rtype, right->rtype)) return 0;
  for (unsigned i = 0; i < left->nargs; i++)
    if (!is_same_type(left->arg_types[i], right->arg_types[i])) return 0;
  return 1;
}

ffi_cif *fwd_lasting_cif(FWDPlan *plan) {
  FWDPlan **bucket = &lasting[(plan->cif.nargs * 7 + plan->cif.flags) % BUCKETS];
  pthread_mutex_lock(&fwd_callbacks_lock);
  FWDPlan *found = *bucket;
  while (found && !is_same(&found->cif, &plan->cif)) found = found->next_lasting;
  if (!found) {
    fwd_plan_keep(plan);
    plan->next_lasting = *bucket;
    *bucket = found = plan;
  }
  pthread_mutex_unlock(&fwd_callbacks_lock);
  return &found->cif;
}
