// SPDX-License-Identifier: Apache-2.0
/// The parts of a proxy for one requirement.
struct ProxyMember {
  /// The calls of a method, or of a getter and a setter. The proxy itself answers for a static one.
  var calls: [Call] = []
  /// The member with its body.
  let member: String
  /// The member of a box.
  let boxed: String
  /// The default implementation, as a member of an extension of the protocol.
  var leftOut = ""
  /// The members of the proxy that the extension of a nested protocol uses.
  var beside: [String] = []
  /// The conditions of `#if` around the requirement: all hold.
  var conditions: [String] = []

  /// The types of what its messages carry. A setter carries the values of its getter.
  var values: [String] {
    calls.prefix(1).filter { $0.isNoMessage == nil }.map { $0.valuesName ?? "(\($0.types))" }
  }
}

extension [ProxyMember] {
  /// Joins the given texts of all members, each under its conditions.
  func text(_ text: (ProxyMember) -> String) -> String {
    compactMap { member in
      let own = text(member)
      if own.isEmpty || member.conditions.isEmpty { return own.isEmpty ? nil : own }
      return "#if \(member.conditions.joined(separator: " && "))\n\(own)\n#endif"
    }.joined(separator: "\n\n")
  }

  /// The tuple elements of `__Values`, and the type aliases for the elements that depend on a
  /// condition.
  var values: (types: [String], aliases: [String]) {
    let conditional = indices.filter { !self[$0].conditions.isEmpty && !self[$0].values.isEmpty }
    let aliases = conditional.map { index in
      let head = self[index].conditions.joined(separator: " && ")
      let values = self[index].values.joined(separator: ", ")
      return "#if \(head)\ntypealias __Values\(index) = (\(values))\n"
        + "#else\ntypealias __Values\(index) = ()\n#endif"
    }
    let own = filter(\.conditions.isEmpty).flatMap(\.values)
    return (own + conditional.map { "__Values\($0)" }, aliases)
  }
}
