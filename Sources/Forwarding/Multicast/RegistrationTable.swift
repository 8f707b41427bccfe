// SPDX-License-Identifier: Apache-2.0
/// A hash table of registrations by target, one for each target, with open addressing.
///
/// The table takes eight bytes for each slot. A dictionary takes 16, and a second one is needed for
/// tokens. The slot of a registration follows from its target's address, which the registration
/// stores itself.
struct RegistrationTable {
  /// The slots: a power of two, at least a third of them empty. There are no slots for a single
  /// registration.
  private var places: [Registration?] = []
  private var only: Registration?
  private var count: UInt32 = 0

  init() {}

  /// Creates a table of registrations of different targets.
  init(_ registrations: [Registration]) {
    for registration in registrations { insert(registration) }
  }

  subscript(_ target: ObjectIdentifier) -> Registration? {
    if places.isEmpty { return only?.identity == target ? only : nil }
    var place = first(target)
    while let found = places[place] {
      if found.identity == target { return found }
      place = next(place)
    }
    return nil
  }

  /// Inserts a registration whose target has no entry yet.
  mutating func insert(_ registration: Registration) {
    count += 1
    if count == 1, places.isEmpty {
      only = registration
    } else {
      if 3 * Int(count) > 2 * places.count { grow() }
      put(registration)
    }
  }

  /// Replaces the entry of the same target.
  mutating func replace(with registration: Registration) {
    if places.isEmpty {
      only = registration
    } else {
      places[place(of: registration.identity)] = registration
    }
  }

  /// Removes the entry of a target, which exists. The caller retains the registration, so it is not
  /// deallocated here.
  mutating func remove(_ target: ObjectIdentifier) {
    count -= 1
    if places.isEmpty { return only = nil }
    if count == 0 { return places = [] }
    var gap = place(of: target)
    // Entries behind the gap move up, unless that would put them in front of their first slot.
    var place = next(gap)
    while let other = places[place] {
      if distance(from: first(other.identity), to: place) >= distance(from: gap, to: place) {
        places[gap] = other
        gap = place
      }
      place = next(place)
    }
    places[gap] = nil
  }

  private func place(of target: ObjectIdentifier) -> Int {
    var place = first(target)
    while places[place]?.identity != target { place = next(place) }
    return place
  }

  private mutating func put(_ registration: Registration) {
    var place = first(registration.identity)
    while places[place] != nil { place = next(place) }
    places[place] = registration
  }

  private mutating func grow() {
    let old = places
    places = Array(repeating: nil, count: max(4, 2 * old.count))
    for case let registration? in old { put(registration) }
    if let only { put(only) }
    only = nil
  }

  private func next(_ place: Int) -> Int { (place &+ 1) & (places.count - 1) }

  private func distance(from start: Int, to end: Int) -> Int { (end &- start) & (places.count - 1) }

  /// The first slot of a target: the uppermost bits of its address multiplied by 2^64 divided by
  /// the golden ratio. Neighbors in memory are spread evenly.
  private func first(_ target: ObjectIdentifier) -> Int {
    let hash = UInt(bitPattern: target) &* 0x9E37_79B9_7F4A_7C15
    return Int(hash &>> UInt((places.count - 1).leadingZeroBitCount))
  }
}
