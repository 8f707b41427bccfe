// SPDX-License-Identifier: Apache-2.0
#include <glib-object.h>
