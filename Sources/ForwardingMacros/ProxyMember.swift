// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  /// The constant that holds a message of a proxy.
  struct MessageConstant {
    /// The name of the constant inside the proxy.
    var name: String
    /// The name of the message in the proxy's `__Messages`.
    var publicName: String
    /// The types of the result and the arguments.
    var result: String
    var arguments: [String]
    /// The reason why the requirement cannot be sent as a message: the proxy has its selector alone. nil if it can.
    var isNoMessage: String?
    var selector: String
    /// The requirement as the protocol writes it.
    var spelling: String
    /// The doc comment of the requirement.
    var comment = ""
    /// The type of its values, which a compiler names that misses `Sendable`; nil for those that are so by their names.
    var valuesName: String?
    /// Whether another message of the requirement carries the same values.
    var sharesValues = false

    var types: String? {
      isNoMessage == nil ? ([result] + arguments).joined(separator: ", ") : nil
    }

    /// The type of the constant.
    var type: String {
      types.map { "\(Spelling.forwarding)Requirement<\($0)>" } ?? "\(Spelling.invocations)Selector"
    }

    /// Its values as one type.
    var values: String? {
      sharesValues ? nil : types.map { valuesName ?? "(\($0))" }
    }

    /// The type of its values, if it has a name: it is `Sendable` if they are.
    func declaration(_ access: String) -> String? {
      guard let types, let valuesName, !sharesValues else { return nil }
      return "  \(access == "public " ? "@frozen " : "")\(access)nonisolated struct \(valuesName) "
        + "{ let __values: \(Spelling.forwarding)_RequirementValues<\(types)> }"
    }

    /// What makes it.
    func value(isCached proxy: String?) -> String {
      guard types != nil else {
        return
          "\(Spelling.forwarding)_ProxyMessage.selector(\"\(selector)\", name: \"\(spelling)\")"
      }
      let name = spelling == selector ? "" : ", name: \"\(spelling)\""
      return proxy.map { "\(type).known(\"\(selector)\", of: \($0).self\(name))" }
        ?? "\(type)(\"\(selector)\"\(name))"
    }
  }

  /// The parts of a proxy for one requirement: its messages, the member that sends them, and the
  /// statements that register targets for them.
  struct ProxyMember {
    var messages: [MessageConstant] = []
    /// The member with its body.
    var member: String
    /// The member of a box.
    var boxed: String
    /// The default implementations, as members of an extension of the protocol.
    var defaults: [String] = []
    /// The statements that register a class for the messages.
    var answers: [String] = []
    /// Whether a message of the member mutates its target.
    var isMutating = false
    /// The members of the proxy that the extension of a nested protocol uses.
    var beside: [String] = []
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
    func text(_ text: (ProxyMember) -> [String]) -> String {
      map { part in
        switch part {
        case .member(let member): return text(member).joined(separator: "\n\n")
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
        case .member(let member): types += member.messages.compactMap(\.values)
        case .conditional(let clauses):
          let name = "__Values\(index)"
          var text = ""
          for clause in clauses {
            let own = clause.parts.flatMap(\.members).flatMap(\.messages).compactMap(\.values)
            text += "\(clause.head)\ntypealias \(name) = (\(own.joined(separator: ", ")))\n"
          }
          if !clauses.contains(where: { $0.head == "#else" }) {
            text += "#else\ntypealias \(name) = ()\n"
          }
          types.append(name)
          aliases.append(text + "#endif")
        }
      }
      return (types, aliases)
    }
  }
#endif
