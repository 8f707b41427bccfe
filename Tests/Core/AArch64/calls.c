// SPDX-License-Identifier: Apache-2.0
// Calls functions of another compiler through plans, and is called by them. Each case runs through
// both engines, twice with one frame, and back through trampolines and through libffi's closures.
#include <stdio.h>
#include <stdlib.h>

#include "../objects.h"
#include "CForwardingShims.h"
#include "cases.h"

// MARK: Types

#define SCALAR(T, k) {.size = sizeof(T), .alignment = _Alignof(T), .kind = FWDKind##k}
#define FLOATING(T, k, c, n)                                                                       \
  {.size = sizeof(T), .alignment = _Alignof(T), .kind = FWDKind##k, .component = FWDKind##c,       \
   .component_count = n}
#define RECORD(T) SCALAR(T, Aggregate)

#define TYPES(X)                                                                                   \
  X(i8, SCALAR(i8, Int8))                                                                          \
  X(u8, SCALAR(u8, UInt8))                                                                         \
  X(i16, SCALAR(i16, Int16))                                                                       \
  X(u16, SCALAR(u16, UInt16))                                                                      \
  X(i32, SCALAR(i32, Int32))                                                                       \
  X(i64, SCALAR(i64, Int64))                                                                       \
  X(i128, SCALAR(i128, Int128))                                                                    \
  X(f32, FLOATING(f32, Float, Float, 1))                                                           \
  X(f64, FLOATING(f64, Double, Double, 1))                                                         \
  X(f128, FLOATING(f128, LongDouble, LongDouble, 1))                                               \
  X(cf, FLOATING(cf, ComplexFloat, Float, 2))                                                      \
  X(cd, FLOATING(cd, ComplexDouble, Double, 2))                                                    \
  X(cq, FLOATING(cq, ComplexLongDouble, LongDouble, 2))                                            \
  X(none, {.alignment = 1, .kind = FWDKindAggregate})                                              \
  X(h1f, FLOATING(h1f, Aggregate, Float, 1))                                                       \
  X(h2f, FLOATING(h2f, Aggregate, Float, 2))                                                       \
  X(h3f, FLOATING(h3f, Aggregate, Float, 3))                                                       \
  X(h4f, FLOATING(h4f, Aggregate, Float, 4))                                                       \
  X(uf, FLOATING(uf, Aggregate, Float, 2))                                                         \
  X(h1d, FLOATING(h1d, Aggregate, Double, 1))                                                      \
  X(h2d, FLOATING(h2d, Aggregate, Double, 2))                                                      \
  X(h3d, FLOATING(h3d, Aggregate, Double, 3))                                                      \
  X(h4d, FLOATING(h4d, Aggregate, Double, 4))                                                      \
  X(h1q, FLOATING(h1q, Aggregate, LongDouble, 1))                                                  \
  X(h2q, FLOATING(h2q, Aggregate, LongDouble, 2))                                                  \
  X(h4q, FLOATING(h4q, Aggregate, LongDouble, 4))                                                  \
  X(s3, RECORD(s3))                                                                                \
  X(s8, RECORD(s8))                                                                                \
  X(s12, RECORD(s12))                                                                              \
  X(s16, RECORD(s16))                                                                              \
  X(a16, RECORD(a16))                                                                              \
  X(f5, RECORD(f5))                                                                                \
  X(d5, RECORD(d5))                                                                                \
  X(s24, RECORD(s24))                                                                              \
  X(a32, RECORD(a32))                                                                              \
  X(s4k, RECORD(s4k))

#define DESCRIBE(T, ...) static const FWDValue value_##T = __VA_ARGS__;
TYPES(DESCRIBE)

typedef struct Case {
  const char *name;
  int is_variadic;
  size_t count;
  const FWDValue *values[17];
} Case;

#define VALUE(n, T) &value_##T
#define ONE(n, T) +1
#define CASE(n, R, ...)                                                                            \
  {#n, 0, EACH(ONE, NONE, __VA_ARGS__), {&value_##R, EACH(VALUE, COMMA, __VA_ARGS__)}},
#define VARIADIC_CASE(n, R, F, ...)                                                                \
  {#n, 1, 1 EACH(ONE, NONE, __VA_ARGS__),                                                          \
   {&value_##R, &value_##F, EACH(VALUE, COMMA, __VA_ARGS__)}},

static const Case cases[] = {CASES(CASE) VARIADIC_CASES(VARIADIC_CASE)};
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

// MARK: Values

enum { ROOM = 4096 };

static const Case *current;
static const char *way;
static unsigned char expected[17][ROOM];
static size_t next;
static int faults, checks;

static void fault(const char *what, size_t index) {
  printf("AArch64: %s, %s: %s %zu\n", current->name, way, what, index);
  faults++;
}

static void expect(const void *value, const void *wanted, size_t size, const char *what,
                   size_t index) {
  checks++;
  if (memcmp(value, wanted, size) != 0) fault(what, index);
}

void next_argument(void *value, size_t size) {
  next++;
  memcpy(value, expected[next], size);
}

void see(void *value, size_t size) {
  next++;
  expect(value, expected[next], size, "argument", next);
  memset(value, 0xEE, size);
}

void due_result(void *value, size_t size) { memcpy(value, expected[0], size); }

void see_result(const void *value, size_t size) { expect(value, expected[0], size, "result", 0); }

static void invent(void) {
  for (size_t i = 0; i <= current->count; i++)
    for (size_t j = 0; j < current->values[i]->size; j++) expected[i][j] = (unsigned char)rand();
}

// MARK: Calls

static void set_arguments(const FWDPlanFacts *facts, FWDFrame *frame) {
  for (size_t i = 0; i < current->count; i++)
    fwd_slot_store_raw(&facts->slots[i], frame, expected[i + 1]);
}

static void check_arguments(const FWDPlanFacts *facts, const FWDFrame *frame, const char *what) {
  unsigned char bytes[ROOM];
  for (size_t i = 0; i < current->count; i++) {
    fwd_slot_load(&facts->slots[i], frame, bytes, facts->slots[i].size);
    expect(bytes, expected[i + 1], facts->slots[i].size, what, i + 1);
  }
}

static void call_once(const FWDPlanFacts *facts, FWDFrame *frame, const void *function,
                      int by_libffi) {
  unsigned char bytes[ROOM];
  next = 0;
  if (by_libffi)
    fwd_call_libffi(facts, frame, function);
  else
    fwd_call(facts, frame, function);
  if (next != current->count) fault("arguments seen are", next);
  fwd_slot_load(&facts->result, frame, bytes, facts->result.size);
  expect(bytes, expected[0], facts->result.size, "result", 0);
  check_arguments(facts, frame, "changed argument");
}

/// Calls twice with one frame, and once with a copy of it, after the original got other contents.
static void call(const FWDPlanFacts *facts, const void *function, int by_libffi) {
  enum { BEHIND = 16 };
  size_t size = sizeof(FWDInvocationState) + facts->frame_size;
  FWDInvocationState *state = aligned_alloc(16, size + BEHIND), *copy = aligned_alloc(16, size);
  memset(state, 0xA5, size);
  unsigned char *end = (unsigned char *)state + size;
  memset(end, 0x5A, BEHIND);
  fwd_call_begin(facts, state);
  invent();
  set_arguments(facts, fwd_state_frame(state));
  for (int i = 0; i < 2; i++) call_once(facts, fwd_state_frame(state), function, by_libffi);
  memcpy(copy, state, size);
  memset(state, 0xA5, size);
  fwd_frame_bind_result(facts, fwd_state_frame(copy));
  call_once(facts, fwd_state_frame(copy), function, by_libffi);
  for (int i = 0; i < BEHIND; i++)
    if (end[i] != 0x5A) fault("byte written behind the frame", (size_t)i);
  for (size_t i = 0; i < size; i++)
    if (((unsigned char *)state)[i] != 0xA5) fault("byte written in the first frame", i);
  free(state);
  free(copy);
}

typedef struct Context {
  const FWDPlanFacts *facts;
  int entered, released;
} Context;

static void handle(void *context, FWDFrame *frame) {
  Context *c = context;
  c->entered++;
  check_arguments(c->facts, frame, "argument in the callback");
  if (c->facts->result.size) fwd_slot_store(&c->facts->result, frame, expected[0], c->facts->result.size);
}

static void release(void *context) { ((Context *)context)->released++; }

static void call_back(FWDPlan *plan, const Foreign *other, int by_libffi, int into_libffi) {
  Context context = {fwd_plan_facts(plan), 0, 0};
  const void *function = NULL;
  int error = 0;
  fwd_callback_prefer_libffi(into_libffi);
  FWDCallbackBody body = {.handler = handle, .context = &context, .release = release};
  FWDCallback *callback = fwd_callback_create(plan, body, &function, &error);
  if (!callback) return fault("no callback, error", (size_t)error);
  way = into_libffi ? "a closure" : "a trampoline";
  invent();
  for (int i = 0; i < 2; i++) {
    next = 0;
    other->call(function);
  }
  // The callback reads all arguments without help.
  size_t count = current->count;
  FWDInvocationState *state = aligned_alloc(16, sizeof *state + context.facts->frame_size);
  fwd_call_begin(context.facts, state);
  set_arguments(context.facts, fwd_state_frame(state));
  unsigned char bytes[ROOM];
  if (by_libffi)
    fwd_call_libffi(context.facts, fwd_state_frame(state), function);
  else
    fwd_call(context.facts, fwd_state_frame(state), function);
  fwd_slot_load(&context.facts->result, fwd_state_frame(state), bytes, context.facts->result.size);
  expect(bytes, expected[0], context.facts->result.size, "result of the callback", count);
  free(state);
  if (context.entered != 3) fault("times entered", (size_t)context.entered);
  fwd_callback_destroy(callback);
  if (context.released != 1) fault("times released", (size_t)context.released);
  // The callback is destroyed: it returns zero.
  memset(expected[0], 0, sizeof expected[0]);
  next = 0;
  other->call(function);
}

/// Checks that bytes copied for a call count against the limit for arguments on the stack.
static void check_limit(void) {
  static const Case limit = {.name = "limits"};
  FWDValue values[] = {{.alignment = 1}, value_h4d, value_s4k, value_s4k};
  FWDPlan *plan;
  size_t index = 0;
  current = &limit;
  values[2].size = values[3].size = 32768;
  FWDStatus status = fwd_plan_create(values, 3, 4, &plan, &index);
  if (status != FWDStatusOk) return fault("refused, value", index);
  fwd_plan_destroy(plan);
  values[3].size += 16;
  status = fwd_plan_create(values, 3, 4, &plan, &index);
  if (status != FWDStatusTooLarge || index != 3) fault("not refused, value", index);
  FWDPlace places[4];
  uint32_t stack;
  index = 0;
  status = fwd_place_for(FWDAbiAAPCS64, values, 3, 4, places, &stack, &index);
  if (status != FWDStatusTooLarge || index != 3) fault("placed, value", index);
}

static void forget(FWDEvent event, const void *function) { (void)event, (void)function; }

// The argument names the engine that this build should have.
int main(int count, char **arguments) {
  const char *engine = count > 1 ? arguments[1] : "direct";
  int tried = 0, by_both = 0;
  srand(1);
  fwd_set_event_handler(forget);
  way = engine;
  if (fwd_has_direct_engine()) check_limit();
  for (size_t i = 0; i < CASE_COUNT; i++) {
    current = &cases[i];
    way = "the plan";
    FWDValue values[17];
    for (size_t j = 0; j <= current->count; j++) values[j] = *current->values[j];
    FWDPlan *plan;
    size_t index, fixed = current->is_variadic ? 1 : current->count + 1;
    FWDStatus status = fwd_plan_create(values, current->count, fixed, &plan, &index);
    // What libffi passes wrong, its engine refuses.
    if (status == FWDStatusUnsupportedValue && !fwd_has_direct_engine()) continue;
    if (status != FWDStatusOk) {
      fault("refused value", index);
      continue;
    }
    tried++;
    fwd_plan_set_swift_plan(plan, plan, NULL, 0);
    const FWDPlanFacts *facts = fwd_plan_facts(plan);
    way = "the plan's own engine";
    call(facts, foreign[i].function, 0);
    call_back(plan, &foreign[i], 0, 0);
    if (fwd_libffi_refuses(facts) < 0) {
      by_both++;
      way = "libffi";
      call(facts, foreign[i].function, 1);
      call_back(plan, &foreign[i], 1, 1);
    }
    fwd_plan_destroy(plan);
  }
  printf("AArch64, %s: %d cases, %d tried, %d of them by libffi too, %d checks, %d faults.\n", engine,
         CASE_COUNT, tried, by_both, checks, faults);
  return faults != 0 || by_both == 0 || fwd_has_direct_engine() != (strcmp(engine, "direct") == 0);
}
