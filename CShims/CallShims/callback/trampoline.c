/// Trampolines: function pointers without a page that is writable and executable.
///
/// A page of code in this program's file is mapped again, readable and executable, and in front of
/// a page of data. The mapping is of a file, and private: a system that forbids to make code at run
/// time has nothing to forbid, and a child process has its own.
#include "fwd_callback_internal.h"

#if FWD_HAS_TRAMPOLINES

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../call/fwd_layout.h"

enum { PAGE = FWD_PAGE, PER_PAGE = FWD_TRAMPOLINES_PER_PAGE };

extern const char fwd_trampoline_page[PAGE];
extern void fwd_trampoline_entry(void);

_Static_assert(sizeof(FWDCallbackEntry) == FWD_TRAMPOLINE, "a trampoline is as long as its data");
_Static_assert(offsetof(FWDCallbackEntry, callback) == 0, "the entry is given where to look");
_Static_assert((PER_PAGE + 1) * FWD_TRAMPOLINE == PAGE, "the last 16 bytes are the jump's");

_Static_assert(offsetof(FWDFrame, vectors) == FWD_LAYOUT_VECTORS, "the entry stores them there");
_Static_assert(FWD_FRAME_RESULT == FWD_LAYOUT_RESULT, "the entry looks for the result there");
_Static_assert(FWD_FRAME_STACK == FWD_LAYOUT_FRAME, "the entry takes as much of the stack");

/// The page of data whose entries are handed out, and the first one that was not.
static FWDCallbackEntry *page;
static int next = PER_PAGE;
static int is_refused;

/// Opens the file that the page of code was loaded from, and finds the page in it.
static int open_image(off_t *out_offset) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) return -1;
  char line[4096 + 256];
  int file = -1;
  while (fgets(line, sizeof line, maps)) {
    unsigned long start, end, offset, inode;
    int path = 0;
    if (sscanf(line, "%lx-%lx %*s %lx %*s %lu %n", &start, &end, &offset, &inode, &path) < 4)
      continue;
    unsigned long page = (unsigned long)fwd_trampoline_page;
    if (page < start || page >= end) continue;
    line[strcspn(line, "\n")] = 0;
    // The file may have been replaced since; the process's own link to it still works then.
    const char *names[] = {line + path, "/proc/self/exe"};
    for (int i = 0; i < 2 && file < 0; i++) {
      struct stat status;
      file = open(names[i], O_RDONLY | O_CLOEXEC);
      if (file >= 0 && (fstat(file, &status) != 0 || status.st_ino != inode)) {
        close(file);
        file = -1;
      }
    }
    *out_offset = (off_t)(page - start + offset);
    break;
  }
  fclose(maps);
  return file;
}

/// Two free pages next to each other; near the image, as a jump from afar costs more than a call.
static char *reserve(void) {
  static int count;
  uintptr_t image = (uintptr_t)fwd_trampoline_page & ~(uintptr_t)0x1FFFFF;
  uintptr_t hint = image - 0x4000000 - (uintptr_t)count++ * 2 * PAGE;
  void *pages = mmap((void *)hint, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

/// Whether what failed may work the next time: something is used up for the moment.
static int is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN || error == EINTR;
}

/// Maps another pair of pages. 0 with the reason in `errno` where that does not work.
static int map_pair(void) {
  off_t offset = 0;
  errno = ENOTSUP;
  if (sysconf(_SC_PAGESIZE) != PAGE) return 0;
  int file = open_image(&offset);
  if (file < 0) return 0;
  char *code = reserve();
  int is_mapped =
      code && mmap(code, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, offset) == code &&
      mmap(code + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
           0) == code + PAGE;
  int error = errno;
  close(file);
  if (is_mapped && memcmp(code, fwd_trampoline_page, PAGE) != 0) {
    is_mapped = 0;
    error = ENOTSUP;
  }
  if (!is_mapped) {
    if (code) munmap(code, 2 * PAGE);
    errno = error;
    return 0;
  }
  page = (FWDCallbackEntry *)(code + PAGE);
  // Not the first one: a sanitizer that checks calls reads the eight bytes in front of a function.
  next = 1;
  *(const void **)&page[PER_PAGE] = (const void *)fwd_trampoline_entry;
  return 1;
}

int fwd_trampoline_is_ready(int *out_error) {
  *out_error = 0;
  if (next < PER_PAGE) return 1;
  if (is_refused) return 0;
  if (map_pair()) return 1;
  is_refused = !is_shortage(errno);
  if (!is_refused) *out_error = errno;
  return 0;
}

FWDCallbackEntry *fwd_trampoline_fresh(const void **out_function, int *out_error) {
  if (!fwd_trampoline_is_ready(out_error)) return NULL;
  FWDCallbackEntry *entry = &page[next++];
  *out_function = (const char *)entry - PAGE;
  return entry;
}

/// How `fwd_trampoline_entry` finds the result; see there. `AS_VECTOR_FIRST` is for C alone.
enum {
  AS_WORDS = FWD_AS_WORDS,
  AS_MIXED = FWD_AS_MIXED,
  AS_X87 = FWD_AS_X87,
  AS_COMPLEX_X87 = FWD_AS_COMPLEX_X87,
  AS_VECTOR_FIRST,
};

static uint8_t how_to_return(const FWDSlot *slot) {
  if (slot->route == FWDRouteX87)
    return slot->first == FWDClassComplexX87 ? AS_COMPLEX_X87 : AS_X87;
  if (slot->route != FWDRouteRegisters || slot->second == FWDClassNone ||
      slot->first == slot->second)
    return AS_WORDS;
  return slot->first == FWDClassInteger ? AS_MIXED : AS_VECTOR_FIRST;
}

/// Puts a result of two kinds where the entry looks for it.
static inline int place_result(int how, uint64_t *result) {
  if (__builtin_expect(how == AS_WORDS, 1) || how == AS_X87 || how == AS_COMPLEX_X87) return how;
  int is_integer_first = how == AS_MIXED;
  result[2] = result[is_integer_first ? 0 : 1];
  result[3] = result[is_integer_first ? 1 : 0];
  return AS_MIXED;
}

void fwd_trampoline_prepare(FWDCallback *callback) {
  callback->is_large = callback->plan->facts.frame_size > FWD_FRAME_STACK;
  callback->how = how_to_return(&callback->plan->facts.result);
  callback->is_simple = !callback->is_large && callback->how == AS_WORDS;
}

static void answer_large(const FWDCallback *callback, FWDFrame *frame, FWDFrame *registers,
                         const void *stack_words) {
  const FWDPlanFacts *facts = &callback->plan->facts;
  char *memory = (char *)frame;
  memcpy(frame, registers, FWD_FRAME_STACK);
  memset(memory + FWD_FRAME_STACK, 0, facts->frame_size - FWD_FRAME_STACK);
  memcpy(memory + FWD_FRAME_STACK, stack_words, facts->passed_words * 8);
  FWDSlot slot = facts->result;
  callback->handler(callback->context, frame);
  if (slot.route == FWDRouteHiddenPointer)
    memcpy((void *)registers->integers[0], memory + slot.offset, slot.size);
  else
    memcpy(registers->result, frame->result, sizeof frame->result);
}

/// Writes zero where the result of `slot` would be. The x87 stack needs its values even then.
static int answer_zero(const FWDSlot *slot, FWDFrame *registers) {
  memset(registers->result, 0, sizeof registers->result);
  if (slot->route != FWDRouteHiddenPointer) return place_result(how_to_return(slot), registers->result);
  memset((void *)registers->integers[0], 0, slot->size);
  registers->result[0] = registers->integers[0];
  return AS_WORDS;
}

/// A call with stack words, or with a result in memory: the handler gets a frame that has room.
__attribute__((noinline)) static int enter_large(const FWDCallback *callback, FWDFrame *registers,
                                                 const void *stack_words) {
  uint32_t size = callback->plan->facts.frame_size;
  int is_hidden = callback->plan->facts.result.route == FWDRouteHiddenPointer;
  int how = callback->how;
  if (size <= FWD_FRAME_ON_STACK_MAX) {
    answer_large(callback, __builtin_alloca_with_align(size, 128), registers, stack_words);
  } else {
    void *memory = malloc(size);
    if (!memory) {
      fwd_report_event(FWDEventCallbackWithoutMemory, callback->function);
      return answer_zero(&callback->plan->facts.result, registers);
    }
    answer_large(callback, memory, registers, stack_words);
    free(memory);
  }
  if (!is_hidden) return place_result(how, registers->result);
  registers->result[0] = registers->integers[0];
  return AS_WORDS;
}

/// A call that takes more than its registers, or a result that is not simply in two words.
__attribute__((noinline)) static int enter_specially(const FWDCallback *callback, FWDFrame *frame,
                                                     const void *stack_words) {
  if (callback->is_large) return enter_large(callback, frame, stack_words);
  int how = callback->how;
  callback->handler(callback->context, frame);
  return place_result(how, frame->result);
}

/// The callback is gone, or the thread holds too much already, or has no memory for its list.
__attribute__((noinline)) static int enter_unheld(FWDCallbackEntry *entry, FWDFrame *frame,
                                                  const void *stack_words) {
  FWDFormer former;
  FWDCallback *callback = fwd_callback_begin_use(entry, &former);
  if (!callback) return answer_zero(&former.result, frame);
  int how = enter_specially(callback, frame, stack_words);
  fwd_callback_end_use(callback);
  return how;
}

/// The function that `fwd_trampoline_entry` calls.
int fwd_trampoline_enter(FWDCallbackEntry *entry, FWDFrame *frame, const void *stack_words);

int fwd_trampoline_enter(FWDCallbackEntry *entry, FWDFrame *frame, const void *stack_words) {
  memset(frame->result, 0, sizeof frame->result);
  FWDThread *thread = fwd_thread();
  FWDHold *hold = thread ? thread->top : NULL;
  const FWDCallback *callback = fwd_hold(thread, &entry->callback);
  if (__builtin_expect(!callback, 0)) return enter_unheld(entry, frame, stack_words);
  int how = AS_WORDS;
  if (__builtin_expect(callback->is_simple, 1))
    callback->handler(callback->context, frame);
  else
    how = enter_specially(callback, frame, stack_words);
  fwd_let_go_from(thread, hold, 0);
  return how;
}

#else

int fwd_trampoline_is_ready(int *out_error) {
  *out_error = 0;
  return 0;
}

FWDCallbackEntry *fwd_trampoline_fresh(const void **out_function, int *out_error) {
  (void)out_function;
  *out_error = 0;
  return NULL;
}

void fwd_trampoline_prepare(FWDCallback *callback) { (void)callback; }

#endif
