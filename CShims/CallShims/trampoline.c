/// Trampolines: function pointers without a page that is writable and executable.
///
/// A page of code in this program's file is mapped again, readable and executable, and in front of
/// a page of data. The mapping is of a file, and private: a system that forbids to make code at run
/// time has nothing to forbid, and a child process has its own.
#include "fwd_callback_internal.h"

#if FWD_HAS_TRAMPOLINES

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, STRIDE = 16, PER_PAGE = 255 };

extern const char fwd_trampoline_page[PAGE];
extern void fwd_trampoline_entry(void);

/// What a trampoline's 16 bytes of data hold.
typedef struct Data {
  const void *callback;
  struct Data *next_free;
} Data;

_Static_assert(sizeof(Data) == STRIDE, "a trampoline is as long as its data");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Data *free_data;
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

/// Maps another pair of pages and frees its trampolines. 0 where that does not work.
static int map_pair(void) {
  if (sysconf(_SC_PAGESIZE) != PAGE) return 0;
  off_t offset = 0;
  int file = open_image(&offset);
  if (file < 0) return 0;
  char *code = reserve();
  int is_mapped =
      code && mmap(code, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, offset) == code &&
      mmap(code + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
           0) == code + PAGE;
  close(file);
  if (!is_mapped || memcmp(code, fwd_trampoline_page, PAGE) != 0) {
    if (code) munmap(code, 2 * PAGE);
    return 0;
  }
  Data *data = (Data *)(code + PAGE);
  // Not the first one: a sanitizer that checks calls reads the eight bytes in front of a function.
  for (int i = PER_PAGE - 1; i > 0; i--) {
    data[i].next_free = free_data;
    free_data = &data[i];
  }
  *(const void **)&data[PER_PAGE] = (const void *)fwd_trampoline_entry;
  return 1;
}

static Data *take_data(void) {
  pthread_mutex_lock(&lock);
  if (!free_data && !is_refused && !map_pair()) is_refused = 1;
  Data *data = free_data;
  if (data) free_data = data->next_free;
  pthread_mutex_unlock(&lock);
  return data;
}

static void free_again(Data *data) {
  pthread_mutex_lock(&lock);
  data->next_free = free_data;
  free_data = data;
  pthread_mutex_unlock(&lock);
}

/// How `fwd_trampoline_entry` finds the result; see there. `AS_VECTOR_FIRST` is for C alone.
enum { AS_WORDS = 0, AS_MIXED, AS_X87, AS_COMPLEX_X87, AS_VECTOR_FIRST };

static uint8_t how_to_return(const FWDSlot *slot) {
  if (slot->place == FWDPlaceX87)
    return slot->first == FWDClassComplexX87 ? AS_COMPLEX_X87 : AS_X87;
  if (slot->place != FWDPlaceRegisters || slot->second == FWDClassNone ||
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

const void *fwd_trampoline_take(FWDCallback *callback) {
  Data *data = take_data();
  if (!data) return NULL;
  callback->place = &data->callback;
  callback->is_large = callback->plan->facts.frame_size > FWD_FRAME_STACK;
  callback->how = how_to_return(&callback->plan->facts.result);
  callback->is_simple = !callback->is_large && callback->how == AS_WORDS;
  fwd_publish(&data->callback, callback);
  return (const char *)data - PAGE;
}

void fwd_trampoline_give_back(const void **place) { free_again((Data *)place); }

int fwd_trampolines_work(void) {
  Data *data = take_data();
  if (data) free_again(data);
  return data != NULL;
}

/// A call with stack words, or with a result in memory: the handler gets a frame that has room.
__attribute__((noinline)) static int enter_large(const FWDCallback *callback, FWDFrame *registers,
                                                 const void *stack_words) {
  const FWDPlanFacts *facts = &callback->plan->facts;
  // At most 64 KiB of stack words and 64 KiB of result: bounded by the plan.
  char *memory = __builtin_alloca_with_align(facts->frame_size, 128);
  FWDFrame *frame = (FWDFrame *)memory;
  memcpy(frame, registers, FWD_FRAME_STACK);
  memset(memory + FWD_FRAME_STACK, 0, facts->frame_size - FWD_FRAME_STACK);
  memcpy(memory + FWD_FRAME_STACK, stack_words, facts->passed_words * 8);
  // The callback may be gone when its handler returns.
  FWDSlot slot = facts->result;
  int how = callback->how;
  uint64_t hidden = frame->integers[0];
  callback->handler(callback->context, frame);
  if (slot.place == FWDPlaceHiddenPointer) {
    memcpy((void *)hidden, memory + slot.offset, slot.size);
    registers->result[0] = hidden;
    return AS_WORDS;
  }
  memcpy(registers->result, frame->result, sizeof frame->result);
  return place_result(how, registers->result);
}

/// A call that takes more than its registers, or a result that is not simply in two words.
__attribute__((noinline)) static int enter_specially(const FWDCallback *callback, FWDFrame *frame,
                                                     const void *stack_words) {
  if (callback->is_large) return enter_large(callback, frame, stack_words);
  // The callback may be gone when its handler returns.
  int how = callback->how;
  callback->handler(callback->context, frame);
  return place_result(how, frame->result);
}

/// The callback is gone, or the thread holds too much already, or has no memory for its list; then
/// whoever made the callback is trusted to keep it.
__attribute__((noinline)) static int enter_unheld(const void **data, FWDFrame *frame,
                                                  const void *stack_words) {
  const FWDCallback *callback = __atomic_load_n(data, __ATOMIC_ACQUIRE);
  return callback ? enter_specially(callback, frame, stack_words) : AS_WORDS;
}

int fwd_trampoline_enter(const void **data, FWDFrame *frame, const void *stack_words);

int fwd_trampoline_enter(const void **data, FWDFrame *frame, const void *stack_words) {
  memset(frame->result, 0, sizeof frame->result);
  FWDThread *thread = fwd_thread();
  uint32_t index = thread ? thread->count : 0;
  const FWDCallback *callback = fwd_hold(thread, data);
  if (__builtin_expect(!callback, 0)) return enter_unheld(data, frame, stack_words);
  int how = AS_WORDS;
  if (__builtin_expect(callback->is_simple, 1))
    callback->handler(callback->context, frame);
  else
    how = enter_specially(callback, frame, stack_words);
  fwd_let_go_from(thread, index, 0);
  return how;
}

#else

const void *fwd_trampoline_take(FWDCallback *callback) {
  (void)callback;
  return NULL;
}

void fwd_trampoline_give_back(const void **place) { (void)place; }

int fwd_trampolines_work(void) { return 0; }

#endif
