// SPDX-License-Identifier: Apache-2.0
/// Trampolines: function pointers without a page that is both writable and executable.
///
/// A page of code in this program's file is mapped again, readable and executable, in front of a
/// page of data. It is a private mapping of a file, so systems that forbid creating code at run
/// time allow it, and a child process has its own.
#include "fwd_callback_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../call/fwd_layout.h"

enum { PAGE = FWD_PAGE, PER_PAGE = FWD_TRAMPOLINES_PER_PAGE, APART = FWD_TRAMPOLINE_APART };

// Missing without the direct engine.
#pragma weak fwd_trampoline_page
#pragma weak fwd_trampoline_call
extern const char fwd_trampoline_page[PAGE];
extern void fwd_trampoline_call(void);

_Static_assert(sizeof(FWDTrampoline) == FWD_TRAMPOLINE, "a trampoline is as long as its data");
_Static_assert(offsetof(FWDTrampoline, function) == 0, "assembly finds it there");
_Static_assert((PER_PAGE + 1) * FWD_TRAMPOLINE == PAGE, "the last 16 bytes are the jump's");

/// The data page that is handed out, and the index of its first unused trampoline.
static FWDTrampoline *trampolines;
static int next = PER_PAGE;
static int is_refused = !FWD_HAS_DIRECT_ENGINE;

/// Whether a file has the page of code at an offset.
static int has_page(int file, off_t offset) {
  char page[PAGE];
  return pread(file, page, PAGE, offset) == PAGE && memcmp(page, fwd_trampoline_page, PAGE) == 0;
}

/// Opens the file from which the page of code was loaded, and finds the offset of the page in it.
static int open_image(off_t *out_offset) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) return -1;
  char line[4096 + 256];
  int file = -1;
  while (fgets(line, sizeof line, maps)) {
    unsigned long start, end, offset;
    int path = 0;
    if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &start, &end, &offset, &path) < 3) continue;
    unsigned long page = (unsigned long)fwd_trampoline_page;
    if (page < start || page >= end) continue;
    line[strcspn(line, "\n")] = 0;
    *out_offset = (off_t)(page - start + offset);
    // The file may have been replaced since; /proc/self/exe then still refers to the program's
    // file. The contents tell, as file systems in layers report other inodes here than `fstat` does.
    const char *names[] = {line + path, "/proc/self/exe"};
    for (int i = 0; i < 2 && file < 0; i++) {
      file = open(names[i], O_RDONLY | O_CLOEXEC);
      if (file >= 0 && !has_page(file, *out_offset)) {
        close(file);
        file = -1;
      }
    }
    break;
  }
  fclose(maps);
  return file;
}

/// Reserves memory for two system pages and the space between them, near the image, because a jump
/// over a large distance costs more than a call.
static char *reserve(size_t size) {
  static int count;
  uintptr_t image = (uintptr_t)fwd_trampoline_page & ~(uintptr_t)0x1FFFFF;
  uintptr_t hint = image - 0x4000000 - (uintptr_t)count++ * size;
  void *pages = mmap((void *)hint, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

/// Whether a failure is temporary, because a resource is exhausted at the moment.
static int is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN || error == EINTR;
}

/// Maps another pair of pages. Returns 0 with the reason in `errno` on failure.
///
/// A system page may be larger than a trampoline page, which is then somewhere inside it; the data
/// page has the same offset in its system page. The distance between both is a constant in the
/// code, and at least one system page.
static int map_pair(void) {
  size_t system = (size_t)sysconf(_SC_PAGESIZE);
  size_t inset = (uintptr_t)fwd_trampoline_page & (system - 1);
  off_t offset = 0;
  errno = ENOTSUP;
  if (system < PAGE || system > APART) return 0;
  int file = open_image(&offset);
  if (file < 0) return 0;
  char *code = reserve(APART + system), *data = code ? code + APART : NULL;
  int is_mapped =
      code &&
      mmap(code, system, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file,
           offset - (off_t)inset) == code &&
      mmap(data, system, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == data;
  int error = errno;
  close(file);
  // The file may have changed since its contents were compared.
  if (is_mapped && memcmp(code + inset, fwd_trampoline_page, PAGE) != 0) {
    is_mapped = 0;
    error = ENOTSUP;
  }
  if (!is_mapped) {
    if (code) munmap(code, APART + system);
    errno = error;
    return 0;
  }
  trampolines = (FWDTrampoline *)(data + inset);
  // The first is skipped: a sanitizer that checks calls reads the eight bytes in front of a function.
  next = 1;
  trampolines[PER_PAGE].function = (const void *)fwd_trampoline_call;
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

FWDTrampoline *fwd_trampoline_fresh(int *out_error) {
  return fwd_trampoline_is_ready(out_error) ? &trampolines[next++] : NULL;
}
