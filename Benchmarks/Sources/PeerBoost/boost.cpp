#include "PeerBoost.h"

#include <boost/shared_ptr.hpp>
#include <boost/signals2.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace {
struct Receiver {
  volatile int64_t word = 0;
  __attribute__((noinline)) void keep(int64_t value) { word = value; }
};
using Signal = boost::signals2::signal<void(int64_t)>;

struct Set {
  std::vector<boost::shared_ptr<Receiver>> boosts;
  std::vector<std::shared_ptr<Receiver>> receivers;
  std::vector<std::weak_ptr<Receiver>> weak;
  Signal plain, tracked;

  explicit Set(int count) {
    for (int i = 0; i < count; i++) {
      boosts.push_back(boost::shared_ptr<Receiver>(new Receiver));
      receivers.push_back(std::make_shared<Receiver>());
      weak.push_back(receivers.back());
      Receiver *receiver = boosts.back().get();
      plain.connect([receiver](int64_t value) { receiver->keep(value); });
      tracked.connect(Signal::slot_type([receiver](int64_t value) { receiver->keep(value); })
                          .track(boosts.back()));
    }
  }
};

Set &set(int targets) {
  static std::map<int, std::unique_ptr<Set>> sets;
  auto &found = sets[targets];
  if (!found) found.reset(new Set(targets));
  return *found;
}
}  // namespace

void peer_boost_signal(int targets, long count) {
  Set &all = set(targets);
  for (long i = 0; i < count; i++) all.plain(i);
}

void peer_boost_tracked(int targets, long count) {
  Set &all = set(targets);
  for (long i = 0; i < count; i++) all.tracked(i);
}

void peer_weak_pointers(int targets, long count) {
  Set &all = set(targets);
  for (long i = 0; i < count; i++)
    for (auto &weak : all.weak)
      if (auto receiver = weak.lock()) receiver->keep(i);
}
