#include "PeerQt.h"

#include <QObject>
#include <QSignalMapper>
#include <map>
#include <memory>

namespace {
// Slots that are connected by address need no moc, and the signal is one of Qt's own.
struct Receiver : QObject {
  volatile int word = 0;
  __attribute__((noinline)) void keep(int value) { word = value; }
};
}  // namespace

void peer_qt_emit(int targets, long count) {
  static std::map<int, QSignalMapper *> emitters;
  QSignalMapper *&emitter = emitters[targets];
  if (!emitter) {
    emitter = new QSignalMapper;
    for (int i = 0; i < targets; i++)
      QObject::connect(emitter, &QSignalMapper::mappedInt, new Receiver, &Receiver::keep);
  }
  for (long i = 0; i < count; i++) emitter->mappedInt(static_cast<int>(i));
}
