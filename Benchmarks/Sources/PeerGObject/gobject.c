// SPDX-License-Identifier: Apache-2.0
#include "PeerGObject.h"

#include <glib-object.h>

static GObject *emitters[65];
static guint signal_id;

typedef struct Receiver { volatile gpointer word; } Receiver;

static void keep(GObject *object, gpointer value, gpointer user) {
  (void)object;
  ((Receiver *)user)->word = value;
}

void peer_gobject_emit(int targets, long count) {
  if (!signal_id)
    signal_id = g_signal_new("kept", G_TYPE_OBJECT, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                             g_cclosure_marshal_VOID__POINTER, G_TYPE_NONE, 1, G_TYPE_POINTER);
  if (!emitters[targets]) {
    emitters[targets] = g_object_new(G_TYPE_OBJECT, NULL);
    for (int i = 0; i < targets; i++)
      g_signal_connect(emitters[targets], "kept", G_CALLBACK(keep), g_new0(Receiver, 1));
  }
  for (long i = 0; i < count; i++)
    g_signal_emit(emitters[targets], signal_id, 0, (gpointer)(gsize)i);
}
