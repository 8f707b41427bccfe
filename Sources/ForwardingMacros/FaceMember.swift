#if canImport(SwiftSyntaxMacros)
  /// A message of a face.
  struct MessageConstant {
    /// What it is called inside of the face.
    var name: String
    /// What users call it.
    var publicName: String
    /// The types of its result and its arguments; nil for a requirement that is no message, of which a face has the
    /// selector alone.
    var types: String?
    var selector: String
    /// The comment of the requirement.
    var comment = ""

    /// Its type.
    var type: String {
      types.map { "\(Spelling.forwarding)Requirement<\($0)>" } ?? "\(Spelling.invocations)Selector"
    }

    /// What makes it.
    func value(isCached face: String?) -> String {
      guard types != nil else { return "\(Spelling.invocations)Selector(\"\(selector)\")" }
      return face.map { "\(type).known(\"\(selector)\", of: \($0).self)" }
        ?? "\(type)(\"\(selector)\")"
    }
  }

  /// What a face has for one requirement: a message, a member that sends it, and how targets answer.
  struct FaceMember {
    var messages: [MessageConstant] = []
    /// The member, with its body, given where the face has the protocol.
    var member: (_ place: String) -> String
    /// The member of a box, given the value that it calls.
    var boxed: (_ value: String) -> String
    /// The members of an extension of the protocol, for those who leave the requirement out.
    var defaults: [String] = []
    /// Statements that let the objects of a class answer.
    var answers: [String] = []
    /// Whether it changes its target.
    var isMutating = false
  }

  /// The members of a face, and what stands between `#if` and `#endif`.
  indirect enum FacePart {
    case member(FaceMember)
    case conditional([(head: String, parts: [FacePart])])

    /// All members, whatever the conditions.
    var members: [FaceMember] {
      switch self {
      case .member(let member): [member]
      case .conditional(let clauses): clauses.flatMap { $0.parts.flatMap(\.members) }
      }
    }
  }

  extension [FacePart] {
    /// The text of something of each member, with the conditions around it.
    func text(_ text: (FaceMember) -> [String]) -> String {
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

    /// The types of the results and arguments of all messages as types, and the aliases for those under conditions.
    var values: (types: [String], aliases: [String]) {
      var types: [String] = []
      var aliases: [String] = []
      for (index, part) in enumerated() {
        switch part {
        case .member(let member): types += member.messages.compactMap { $0.types.map { "(\($0))" } }
        case .conditional(let clauses):
          let name = "__Values\(index)"
          var text = ""
          for clause in clauses {
            let own = clause.parts.flatMap(\.members).flatMap(\.messages).compactMap {
              $0.types.map { "(\($0))" }
            }
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
