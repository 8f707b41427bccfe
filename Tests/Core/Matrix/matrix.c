// SPDX-License-Identifier: Apache-2.0
/// Calls functions of random signatures through the core, and has them call back.
///
/// Linked with one part of the output of `CallMatrix`. Prints a row for each way of calling: its
/// name, and the numbers of signatures, calls and faults. Each fault is a line on standard error.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "matrix.h"
#include "../objects.h"

enum { SLOT = 4096, PLACES_MAX = 260, FAULTS_SHOWN = 12, GUARD = 64, LOST_MAX = 200 };

extern unsigned char captured[], wanted[], given[], returned[];

/// A way to call a function, or to be called.
typedef struct Way {
  const char *name;
  unsigned signatures, calls, wrong;
} Way;

enum { PLAIN, DIRECT, LIBFFI, VARIADIC, TRAMPOLINE, CLOSURE, WAYS };

/// Progress that the calling process shares with the waiting one, because a call may end the
/// calling process.
typedef struct Shared {
  const CallCase *now;
  Way *doing;
  unsigned lost_bytes, refused;
  Way ways[WAYS];
} Shared;

static Shared *shared;
static Way *ways;

/// The values of a signature and the bits that carry them, the result first.
static unsigned char values[PLACES_MAX][SLOT], masks[PLACES_MAX][SLOT];
static unsigned char seen[PLACES_MAX][SLOT];

static const CallCase *now;
static FWDPlan *plan;
static const FWDPlanFacts *facts;

static const FWDSlot *slot_of(size_t place) {
  return place ? &facts->slots[place - 1] : fwd_facts_result(facts);
}

static uint32_t size_of(size_t place) { return now->values[place].size; }

static uint64_t random_state;

static uint64_t next_random(void) {
  uint64_t z = random_state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

static void print_bytes(const unsigned char *bytes, const unsigned char *mask, uint32_t size) {
  for (uint32_t i = 0; i < size && i < 80; i++) fprintf(stderr, "%02x", bytes[i] & mask[i]);
}

/// Compares the contents of one place. A call counts as one fault, reported with its first wrong
/// place.
static int is_wrong(Way *way, const char *what, size_t place, const unsigned char *found) {
  const unsigned char *value = values[place], *mask = masks[place];
  uint32_t size = size_of(place), i = 0;
  while (i < size && (found[i] & mask[i]) == value[i]) i++;
  if (i == size) return 0;
  if (way->wrong >= FAULTS_SHOWN) return 1;
  fprintf(stderr, "seed %llu signature %d %s%s: %s %s, ", (unsigned long long)call_seed, now->index,
          now->encoding, now->fixed_count < now->argument_count ? " ..." : "", way->name, what);
  if (place == 0)
    fprintf(stderr, "result");
  else
    fprintf(stderr, "argument %zu", place - 1);
  if (now->fixed_count < now->argument_count) fprintf(stderr, " (%zu fixed)", now->fixed_count);
  fprintf(stderr, ", byte %u\n  expected ", i);
  print_bytes(value, mask, size);
  fprintf(stderr, "\n  found    ");
  print_bytes(found, mask, size);
  fprintf(stderr, "\n");
  return 1;
}

static void count(Way *way, int wrong) {
  way->calls++;
  if (wrong) way->wrong++;
}

// MARK: Values

static void make_values(void) {
  random_state = call_seed * 1000003 + (uint64_t)now->index;
  for (size_t place = 0; place <= now->argument_count; place++) {
    memset(masks[place], 0, size_of(place) + 1);
    now->mask((int)place, masks[place]);
    for (uint32_t i = 0; i < size_of(place); i++)
      values[place][i] = masks[place][i] & (unsigned char)next_random();
  }
}

static void give_values(void) {
  memcpy(wanted, values[0], size_of(0));
  for (size_t i = 0; i < now->argument_count; i++)
    memcpy(given + i * SLOT, values[i + 1], size_of(i + 1));
}

/// Calls the compiled callee from the compiled driver, in plain C, and removes bits that do not
/// arrive from the masks: clang loses bytes of some unions, which no caller can avoid. Then does so
/// with all bits turned, as a byte that is lost may be there by chance.
static void leave_out_what_compilers_lose(void) {
  shared->doing = &ways[PLAIN];
  for (int turn = 0; turn < 2; turn++) {
    give_values();
    now->drive((const void *)now->callee);
    for (size_t place = 0; place <= now->argument_count; place++) {
      const unsigned char *found = place ? captured + (place - 1) * SLOT : returned;
      for (uint32_t i = 0; i < size_of(place); i++) {
        int is_lost = (found[i] & masks[place][i]) != values[place][i];
        shared->lost_bytes += (unsigned)is_lost;
        if (is_lost) masks[place][i] = values[place][i] = 0;
        values[place][i] ^= masks[place][i];
      }
    }
  }
  memset(captured, 0, now->argument_count * SLOT);
}

// MARK: Calls

static int received(Way *way, const char *callee, const FWDFrame *frame) {
  int wrong = 0;
  unsigned char found[SLOT];
  for (size_t i = 0; i < now->argument_count && !wrong; i++)
    wrong = is_wrong(way, callee, i + 1, captured + i * SLOT);
  if (size_of(0)) {
    fwd_slot_load(slot_of(0), frame, found, size_of(0));
    wrong = wrong || is_wrong(way, callee, 0, found);
  }
  memset(captured, 0, now->argument_count * SLOT);
  return wrong;
}

/// Reads a value word by word. Bytes that belong to no word are padding.
static void read_words(const FWDSlot *slot, const FWDFrame *frame, unsigned char *out,
                       uint32_t size) {
  memset(out, 0, size);
  uint32_t each = fwd_slot_is_spread(slot) ? slot->head : 8;
  for (uint32_t word = 0; each * word < size; word++) {
    uint32_t offset = fwd_slot_word(slot, word), left = size - each * word;
    if (offset == FWD_NOWHERE) continue;
    memcpy(out + each * word, (const char *)frame + offset, left < each ? left : each);
  }
}

/// Calls with one frame, twice by each of two engines. The callee overwrites its arguments.
static void check_calls(void) {
  size_t size = sizeof(FWDInvocationState) + facts->frame_size + 8 * facts->owned_words;
  FWDInvocationState *state = aligned_alloc(16, (size + GUARD + 15) & ~(size_t)15);
  FWDFrame *frame = fwd_state_frame(state);
  memset(state, 0x5A, size + GUARD);
  fwd_call_begin(facts, state);
  int is_variadic = now->fixed_count < now->argument_count;
  Way *own = &ways[!fwd_has_direct_engine() ? LIBFFI : is_variadic ? VARIADIC : DIRECT];
  own->signatures++;
  int has_both = own != &ways[LIBFFI] && fwd_libffi_refuses(facts) < 0;
  if (has_both) ways[LIBFFI].signatures++;
  for (size_t i = 0; i < now->argument_count; i++) {
    unsigned char back[SLOT];
    const FWDSlot *slot = slot_of(i + 1);
    if (size_of(i + 1)) fwd_slot_store_raw(slot, frame, values[i + 1]);
    fwd_slot_load(slot, frame, back, size_of(i + 1));
    if (is_wrong(own, "(set and read)", i + 1, back)) own->wrong++;
    read_words(slot, frame, back, size_of(i + 1));
    if (is_wrong(own, "(word by word)", i + 1, back)) own->wrong++;
  }
  for (int which = 0; which < 2; which++) {
    const void *callee = (const void *)now->callee;
    const char *name = which ? "once more" : "once";
    fwd_slot_clear(slot_of(0), frame);
    shared->doing = own;
    fwd_call(facts, frame, callee);
    count(own, received(own, name, frame));
    if (!has_both) continue;
    fwd_slot_clear(slot_of(0), frame);
    shared->doing = &ways[LIBFFI];
    fwd_call_libffi(facts, frame, callee);
    count(&ways[LIBFFI], received(&ways[LIBFFI], name, frame));
  }
  const unsigned char *end = (unsigned char *)state + size;
  for (int i = 0; i < GUARD; i++)
    if (end[i] != 0x5A) {
      fprintf(stderr, "seed %llu signature %d %s: written behind the frame\n",
              (unsigned long long)call_seed, now->index, now->encoding);
      own->wrong++;
      break;
    }
  free(state);
}

// MARK: Callbacks

static void handle(void *context, FWDFrame *frame) {
  ++*(int *)context;
  for (size_t i = 0; i < now->argument_count; i++)
    fwd_slot_load(slot_of(i + 1), frame, seen[i + 1], size_of(i + 1));
  if (size_of(0)) fwd_slot_store_raw(slot_of(0), frame, values[0]);
}

static void release(void *context) { (void)context; }

static void check_callback(int prefers_libffi) {
  if (prefers_libffi && fwd_libffi_refuses(facts) >= 0) return;
  fwd_callback_prefer_libffi(prefers_libffi);
  // The kind of the next callback, if there are no trampolines for the plan.
  Way *way = &ways[fwd_callback_code() == FWDCallbackCodeTrampolines ? TRAMPOLINE : CLOSURE];
  const void *function;
  int error, entered = 0;
  FWDCallbackBody body = {.handler = handle, .context = &entered, .release = release};
  FWDCallback *callback = fwd_callback_create(plan, body, &function, &error);
  if (!callback) {
    fprintf(stderr, "no callback: %d\n", error);
    exit(1);
  }
  way->signatures++;
  give_values();
  memset(returned, 0, SLOT);
  shared->doing = way;
  now->drive(function);
  int wrong = entered != 1;
  for (size_t i = 0; i < now->argument_count && !wrong; i++)
    wrong = is_wrong(way, "", i + 1, seen[i + 1]);
  count(way, wrong || (size_of(0) && is_wrong(way, "", 0, returned)));
  fwd_callback_destroy(callback);
}

static int is_too_large(void) {
  for (size_t place = 0; place <= now->argument_count; place++)
    if (size_of(place) >= SLOT) return 1;
  return now->argument_count >= PLACES_MAX;
}

static void check(void) {
  size_t blamed, count = now->argument_count;
  size_t fixed = now->fixed_count < count ? now->fixed_count : SIZE_MAX;
  FWDStatus status = fwd_plan_create(now->values, count, fixed, &plan, &blamed);
  // What libffi passes wrong, its engine refuses.
  if (status == FWDStatusUnsupportedValue && !fwd_has_direct_engine()) return;
  if (status != FWDStatusOk) {
    fprintf(stderr, "seed %llu signature %d %s: no plan, status %d, place %zu\n",
            (unsigned long long)call_seed, now->index, now->encoding, status, blamed);
    shared->refused++;
    return;
  }
  facts = fwd_plan_facts(plan);
  fwd_plan_set_swift_plan(plan, plan, NULL, 0);
  make_values();
  leave_out_what_compilers_lose();
  give_values();
  check_calls();
  if (now->fixed_count == now->argument_count)
    for (int prefers_libffi = 0; prefers_libffi < 2; prefers_libffi++)
      check_callback(prefers_libffi);
  fwd_plan_destroy(plan);
}

static void check_rest(void) {
  for (; shared->now->index >= 0; shared->now++) {
    now = shared->now;
    check();
  }
}

/// A call that ends its process counts as a fault, and another process goes on with the next call.
static void check_all(void) {
  while (shared->now->index >= 0) {
    fflush(NULL);
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
      check_rest();
      fflush(NULL);
      _exit(0);
    }
    waitpid(child, &status, 0);
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    now = shared->now++;
    shared->doing->wrong++;
    fprintf(stderr, "seed %llu signature %d %s: %s ends the process: signal %d\n",
            (unsigned long long)call_seed, now->index, now->encoding, shared->doing->name,
            WTERMSIG(status));
  }
}

int main(void) {
  static const char *const names[WAYS] = {"plain C",       "direct call", "call by libffi",
                                          "variadic call", "trampoline",  "closure of libffi"};
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  ways = shared->ways;
  for (int i = 0; i < WAYS; i++) ways[i].name = names[i];
  for (now = call_cases; now->index >= 0; now++)
    if (is_too_large()) {
      fprintf(stderr, "%s: too large to test\n", now->encoding);
      return 1;
    }
  shared->doing = &ways[PLAIN];
  shared->now = call_cases;
  check_all();
  unsigned wrong = shared->refused;
  for (int i = 0; i < WAYS; i++) {
    wrong += ways[i].wrong;
    if (ways[i].signatures || ways[i].wrong)
      printf("%s\t%u\t%u\t%u\n", ways[i].name, ways[i].signatures, ways[i].calls, ways[i].wrong);
  }
  if (shared->refused) printf("no plan\t%u\t0\t%u\n", shared->refused, shared->refused);
  if (shared->lost_bytes) printf("bytes that compilers lose\t%u\t0\t0\n", shared->lost_bytes);
  // For comparison, a part compares some 60,000 bytes.
  return wrong != 0 || shared->lost_bytes > LOST_MAX;
}
