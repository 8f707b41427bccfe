// SPDX-License-Identifier: Apache-2.0
#include "fwd_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

const char *fwd_library_file(void *handle) {
  struct link_map *map = NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0')
    return map->l_name;
  return NULL;
}
