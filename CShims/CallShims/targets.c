#include <stdlib.h>

#include "CForwardingShims.h"

FWDTargetList *fwd_targets_create(size_t count) {
  FWDTargetList *list = malloc(sizeof *list + count * sizeof(FWDTarget));
  if (list) list->count = count;
  return list;
}

void fwd_targets_dispose(void *pointer) {
  FWDTargetList *list = pointer;
  for (size_t i = 0; i < list->count; i++) swift_release(list->targets[i].member);
  free(list);
}

#if FWD_HAS_DIRECT_ENGINE

// The most common shape: everything but the receiver stays in registers from call to call.
__attribute__((no_sanitize("function"))) static size_t call_integers(
    const FWDTargetList *list, size_t i, size_t end, const FWDMethod *method,
    const FWDMethodCache *cache, const FWDFrame *f) {
  void (*function)(FWD_SIX) = (void (*)(FWD_SIX))method->function;
  uintptr_t type = method->type;
  uint64_t b = f->integers[1], c = f->integers[2], d = f->integers[3], e = f->integers[4],
           g = f->integers[5];
  for (; i < end; i++) {
    const FWDTarget *target = &list->targets[i];
    void *object = fwd_target_take(target, type);
    if (!object) break;
    function((uint64_t)object, b, c, d, e, g);
    fwd_target_give_back(target, object);
    if (!fwd_method_is_current(cache)) return i + 1;
  }
  return i;
}

#endif

size_t fwd_targets_call(const FWDTargetList *list, size_t i, size_t end, const FWDMethod *method,
                        const FWDMethodCache *cache, uint8_t shape, uint32_t receiver,
                        FWDFrame *frame) {
#if FWD_HAS_DIRECT_ENGINE
  if (shape == (FWDReturnNothing << 4 | FWDArgumentsIntegers))
    return call_integers(list, i, end, method, cache, frame);
#endif
  for (; i < end; i++) {
    const FWDTarget *target = &list->targets[i];
    void *object = fwd_target_take(target, method->type);
    if (!object) break;
    memcpy((char *)frame + receiver, &object, sizeof object);
    fwd_call_direct(shape, frame, method->function);
    fwd_target_give_back(target, object);
    if (!fwd_method_is_current(cache)) return i + 1;
  }
  return i;
}
