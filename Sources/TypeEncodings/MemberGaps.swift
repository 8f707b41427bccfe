// SPDX-License-Identifier: Apache-2.0
/// Finds bytes of a registered structure that neither a member nor an alignment explains.
struct MemberGaps {
  private let node: EncodingNode
  private var end = 0
  /// Whether the offset of any member is known.
  private(set) var hasPassed = false
  private var hasHole = false

  init(of node: EncodingNode) { self.node = node }

  mutating func pass(_ member: EncodingNode) {
    hasPassed = true
    hasHole = hasHole || isHole(before: member.position)
    let bits = member.form == .bitField ? member.count : Int(member.size) * 8
    end = max(end, member.position + bits)
  }

  var isUnexplained: Bool { node.isRegistered && (hasHole || isHole(before: Int(node.size) * 8)) }

  /// Padding is always shorter than the alignment that requires it.
  private func isHole(before bit: Int) -> Bool { bit - end >= Int(node.alignment) * 8 }
}
