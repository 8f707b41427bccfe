// SPDX-License-Identifier: Apache-2.0
extension EncodingParser {
  /// Parses a result and arguments up to the end, and returns the index of each.
  mutating func parseSignature() throws(TypeEncodingError) -> [Int32] {
    var roots: [Int32] = []
    var place = Place.result
    repeat {
      // Checked during parsing: a million arguments are refused at the 257th.
      if roots.count - 1 > EncodingLimits.arguments + 2 { throw tooManyArguments(offset) }
      let root = try parseType(place)
      if let advice = try advisoryOffset() {
        nodes[root].position = advice
        nodes[root].hasPosition = true
      }
      roots.append(Int32(root))
      place = .argument
    } while !atEnd
    try checkArgumentCount(roots)
    return roots
  }

  private func checkArgumentCount(_ roots: [Int32]) throws(TypeEncodingError) {
    let limit = EncodingLimits.arguments + shape(of: roots).hiddenArguments
    if roots.count - 1 > limit { throw tooManyArguments(Int(nodes[Int(roots[limit + 1])].start)) }
  }

  private func tooManyArguments(_ offset: Int) -> TypeEncodingError {
    error(.tooManyArguments(limit: EncodingLimits.arguments), at: offset)
  }

  /// The kind of call, as the first arguments show it.
  func shape(of roots: [Int32]) -> MethodSignature.Shape {
    guard roots.count > 1 else { return .function }
    let first = nodes[Int(roots[1])].form
    if first == .block { return .block }
    guard roots.count > 2, nodes[Int(roots[2])].form == .selector else { return .function }
    return first == .object || first == .classReference ? .method : .function
  }
}
