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

  /// The types of what its messages carry. A setter carries the values of its getter.
  var values: [String] {
    calls.prefix(1).map(\.message).filter { $0.isNoMessage == nil }.map {
      $0.valuesName ?? "(\($0.types))"
    }
  }
}

/// A member of a proxy, or the clauses between `#if` and `#endif`.
indirect enum ProxyPart {
  case member(ProxyMember)
  case conditional([(head: String, parts: [ProxyPart])])

  /// The members of all clauses, whatever their conditions.
  var members: [ProxyMember] {
    switch self {
    case .member(let member): [member]
    case .conditional(let clauses): clauses.flatMap { $0.parts.flatMap(\.members) }
    }
  }
}

extension [ProxyPart] {
  /// Joins the given texts of all members, inside the conditions that surround the members.
  func text(_ text: (ProxyMember) -> String) -> String {
    map { part in
      switch part {
      case .member(let member): return text(member)
      case .conditional(let clauses):
        let inner = clauses.map { ($0.head, $0.parts.text(text)) }
        if inner.allSatisfy({ $0.1.isEmpty }) { return "" }
        return inner.map { "\($0)\n\($1)" }.joined(separator: "\n") + "\n#endif"
      }
    }.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  /// The tuple elements of `__Values`, and the type aliases for the elements that depend on a
  /// condition.
  var values: (types: [String], aliases: [String]) {
    var types: [String] = []
    var aliases: [String] = []
    for (index, part) in enumerated() {
      switch part {
      case .member(let member): types += member.values
      case .conditional(let clauses):
        let name = "__Values\(index)"
        var text = clauses.map { clause in
          let own = clause.parts.flatMap(\.members).flatMap(\.values)
          return "\(clause.head)\ntypealias \(name) = (\(own.joined(separator: ", ")))\n"
        }
        if !clauses.contains(where: { $0.head == "#else" }) {
          text.append("#else\ntypealias \(name) = ()\n")
        }
        types.append(name)
        aliases.append(text.joined() + "#endif")
      }
    }
    return (types, aliases)
  }
}
