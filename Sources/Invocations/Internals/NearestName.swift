// SPDX-License-Identifier: Apache-2.0
/// Suggests a name for a mistyped one.
package enum NearestName {
  /// The candidate with the fewest edits, if they are few for the name's length.
  static func to(_ name: String, among candidates: [String]) -> String? {
    let wanted = Array(name.utf8.prefix(64))
    var best: (name: String, distance: Int)?
    // At most 1000 candidates, because an error should not take longer.
    for candidate in candidates.prefix(1000) {
      let isSame = candidate.lowercased() == name.lowercased()
      let distance = isSame ? 1 : edits(wanted, Array(candidate.utf8.prefix(64)))
      if distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max {
        best = (candidate, distance)
      }
    }
    return best?.name
  }

  /// The edit distance between two names: the number of bytes, among the first 64, to insert,
  /// delete, replace, or exchange with the next one.
  package static func distance(_ one: String, _ other: String) -> Int {
    edits(Array(one.utf8.prefix(64)), Array(other.utf8.prefix(64)))
  }

  /// The number of bytes to insert, delete, replace, or exchange with the next one.
  private static func edits(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var (before, row): ([Int], [Int]) = ([], Array(0...other.count))
    for (i, byte) in one.enumerated() {
      var next = [i + 1]
      for (j, against) in other.enumerated() {
        var least = min(row[j] + (byte == against ? 0 : 1), row[j + 1] + 1, next[j] + 1)
        if i > 0, j > 0, byte == other[j - 1], one[i - 1] == against {
          least = min(least, before[j - 1] + 1)
        }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[other.count]
  }
}
