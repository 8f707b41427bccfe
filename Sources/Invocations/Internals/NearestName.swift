// SPDX-License-Identifier: Apache-2.0
/// Suggests a name for a mistyped one.
package enum NearestName {
  /// The candidate with the fewest edits, if they are few for the name's length.
  static func to(_ name: String, among candidates: [String]) -> String? {
    let wanted = Array(name.utf8.prefix(64))
    var best: (name: String, distance: Int)?
    // At most 1000 candidates, because an error should not take longer.
    for candidate in candidates.prefix(1000) {
      let distance = edits(wanted, Array(candidate.utf8.prefix(64)))
      if distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max {
        best = (candidate, distance)
      }
    }
    return best?.name
  }

  /// The edit distance between two names: the number of bytes, among the first 64, to insert,
  /// delete or replace.
  package static func distance(_ one: String, _ other: String) -> Int {
    edits(Array(one.utf8.prefix(64)), Array(other.utf8.prefix(64)))
  }

  /// The number of bytes to insert, delete or replace.
  private static func edits(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var row = Array(0...other.count)
    for (i, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, against) in other.enumerated() {
        let kept = diagonal + (byte == against ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(kept, row[j] + 1, diagonal + 1)
      }
    }
    return row[other.count]
  }
}
