/// Registrations, found by their targets: one for each target, in a table of open addresses.
///
/// A table of eight bytes for each place, where a dictionary takes 16, and needs another one for tokens. The
/// place of a registration follows from its target's address, which it knows itself.
struct RegistrationTable {
  /// As many as a power of two, and at least a third of them empty; none for one registration.
  private var places: [Registration?] = []
  private var only: Registration?
  private var count: UInt32 = 0

  init() {}

  /// A table of registrations of different targets.
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

  /// Adds one whose target has none yet.
  mutating func insert(_ registration: Registration) {
    count += 1
    if count == 1, places.isEmpty {
      only = registration
    } else {
      if 3 * Int(count) > 2 * places.count { grow() }
      put(registration)
    }
  }

  /// Puts another registration of the same target in the place of one that is there.
  mutating func replace(with registration: Registration) {
    if places.isEmpty {
      only = registration
    } else {
      places[place(of: registration.identity)] = registration
    }
  }

  /// Removes that of a target, which is there. The caller has it, so nothing dies here.
  mutating func remove(_ target: ObjectIdentifier) {
    count -= 1
    if places.isEmpty { return only = nil }
    if count == 0 { return places = [] }
    var gap = place(of: target)
    // Those behind it move up, unless they would come before the place where they are looked for.
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

  /// The uppermost bits of a product with 2^64 divided by the golden ratio: neighbors in memory come to lie
  /// apart, evenly.
  private func first(_ target: ObjectIdentifier) -> Int {
    let hash = UInt(bitPattern: target) &* 0x9E37_79B9_7F4A_7C15
    return Int(hash &>> UInt((places.count - 1).leadingZeroBitCount))
  }
}
