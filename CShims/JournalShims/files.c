// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fwd_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void fill(FWDFileFacts *facts, const struct stat *from) {
  facts->device = (uint64_t)major(from->st_dev) << 32 | minor(from->st_dev);
  facts->number = (uint64_t)from->st_ino;
  facts->size = (int64_t)from->st_size;
}

static int get(int descriptor, const char *path, int flags, FWDFileFacts *facts) {
  struct statx from;
  if (statx(descriptor, path, flags, STATX_INO | STATX_SIZE, &from) != 0) return errno;
  facts->device = (uint64_t)from.stx_dev_major << 32 | from.stx_dev_minor;
  facts->number = from.stx_ino;
  facts->size = (int64_t)from.stx_size;
  return 0;
}

// Old kernels have no statx, and the filters of some containers refuse it.
static int is_refused(int code) { return code == ENOSYS || code == EPERM; }

int fwd_facts_of_descriptor(int descriptor, FWDFileFacts *facts) {
  int code = get(descriptor, "", AT_EMPTY_PATH, facts);
  if (!is_refused(code)) return code;
  struct stat from;
  if (fstat(descriptor, &from) != 0) return errno;
  fill(facts, &from);
  return 0;
}

int fwd_facts_at(const char *path, FWDFileFacts *facts) {
  int code = get(AT_FDCWD, path, 0, facts);
  if (!is_refused(code)) return code;
  struct stat from;
  if (stat(path, &from) != 0) return errno;
  fill(facts, &from);
  return 0;
}
