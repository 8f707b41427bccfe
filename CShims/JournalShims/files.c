// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fwd_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#if defined(__linux__) && defined(STATX_INO)

static FWDFileIdentity identity(int descriptor, const char *path, int flags) {
  struct statx facts;
  if (statx(descriptor, path, flags, STATX_INO, &facts) != 0) return (FWDFileIdentity){0, 0};
  uint64_t device = (uint64_t)facts.stx_dev_major << 32 | facts.stx_dev_minor;
  return (FWDFileIdentity){device, facts.stx_ino};
}

FWDFileIdentity fwd_identity_of_descriptor(int descriptor) {
  return identity(descriptor, "", AT_EMPTY_PATH);
}

FWDFileIdentity fwd_identity_at(const char *path) { return identity(AT_FDCWD, path, 0); }

#else

static FWDFileIdentity identity(int status, const struct stat *facts) {
  if (status != 0) return (FWDFileIdentity){0, 0};
  return (FWDFileIdentity){(uint64_t)facts->st_dev, (uint64_t)facts->st_ino};
}

FWDFileIdentity fwd_identity_of_descriptor(int descriptor) {
  struct stat facts;
  int status = fstat(descriptor, &facts);
  return identity(status, &facts);
}

FWDFileIdentity fwd_identity_at(const char *path) {
  struct stat facts;
  int status = stat(path, &facts);
  return identity(status, &facts);
}

#endif
