#if canImport(SwiftSyntaxMacros)
  /// A message of a face.
  struct MessageConstant {
    /// What it is called inside of the face.
    var name: String
    /// What users call it.
    var publicName: String
    /// Its type: `Requirement<...>`.
    var type: String
    var selector: String
    /// The comment of the requirement.
    var comment = ""
  }

  /// What a face has for one requirement: a message, a member that sends it, and how targets answer.
  struct FaceMember {
    var messages: [MessageConstant]
    /// The member of the class, with its body.
    var member: String
    /// The members of an extension of the protocol, for those who leave the requirement out.
    var defaults: [String] = []
    /// Statements that let the objects of a class answer.
    var answers: [String]
  }

  /// How a requirement gets its answer.
  struct Answer {
    enum Throwing { case nothing, anything, only(String) }

    var isVoid: Bool
    var isAsync = false
    var throwing = Throwing.nothing
    /// The value where nobody answers, as source.
    var otherwise: String?

    /// Whether an error may come out of it.
    var `throws`: Bool { if case .nothing = throwing { false } else { true } }

    /// Whether there is no way to say that nobody answers.
    var needsOtherwise: Bool {
      if case .anything = throwing { return false }
      return !isVoid && otherwise == nil
    }

    /// What a default implementation returns behind its note.
    var leaving: String {
      if isVoid { return "" }
      return otherwise.map { "; return \($0)" } ?? "; throw ForwardingError.nobodyAnswered(nil)"
    }

    /// The statement that sends a message with some values.
    func sending(_ message: String, _ values: [String]) -> String {
      let closure = isVoid ? "" : " otherwise: { \(otherwise ?? "nil") }"
      let arguments = (["$0"] + values).joined(separator: ", ")
      let awaiting = isAsync ? "Awaiting" : ""
      let waits = isAsync ? "await " : ""
      let send =
        "{ try \(waits)FaceMessage.send\(awaiting)(\(arguments), through: forwarder) }"
      let (ask, tell) = ("\(message).ask\(awaiting)", "\(message).tell\(awaiting)")
      switch throwing {
      case .nothing where isVoid: return "\(waits)\(tell)(through: forwarder) \(send)"
      case .nothing: return "\(waits)\(ask)(through: forwarder) \(send)\(closure)"
      case .anything where otherwise == nil:
        return "try \(waits)\(ask)(through: forwarder) \(send)"
      case .anything:
        return
          "try \(waits)\(ask)(through: forwarder, orThrow: (any Error).self) \(send)\(closure)"
      case .only(let type):
        return
          "try \(waits)\(isVoid ? tell : ask)(through: forwarder, orThrow: \(type).self) "
          + "\(send)\(closure)"
      }
    }
  }

  /// The class that is written for a protocol.
  struct Face {
    var name: String
    /// `public ` and the like.
    var access: String
    /// Attributes in front of the class, its global actor among them.
    var attributes: String
    /// `@MainActor` and the like.
    var actor: String?
    /// Whether the face is an actor itself.
    var isOfActors: Bool
    var isSendable: Bool
    /// Whether the protocol says that it is on no actor, where that of the module is another.
    var isNonisolated: Bool
    /// The protocols that it inherits, which have faces of their own.
    var bases: [String]
    var members: [FaceMember]

    /// Extensions of the protocol: what optional requirements do where they are left out, and what the faces of
    /// protocols that inherit this one do.
    func extensions(of type: String) -> [String] {
      [
        ("", members.flatMap(\.defaults)),
        (" where Self: ForwardingFace", members.map(\.member)),
      ].filter { !$0.1.isEmpty }.map { condition, members in
        "\(isNonisolated ? "nonisolated " : "")extension \(type)\(condition) {\n\(members.joined(separator: "\n\n"))\n}"
      }
    }

    /// Whether other modules may have classes of the protocol, so that the optimizer never takes one for the
    /// only one.
    private var isInView: Bool { ["public ", "package "].contains(access) }

    var source: String {
      let conformances = isSendable && !isOfActors ? ", @unchecked Sendable" : ""
      let keyword = isOfActors ? "actor" : "final class"
      // The face of a protocol on an actor is used there alone.
      let isolation = actor.map { $0 + " " } ?? ""
      let messages = members.flatMap(\.messages)
      let constants = messages.map {
        "  nonisolated fileprivate static let \($0.name) = \($0.type)(\"\($0.selector)\")"
      }
      let names = messages.map {
        "\($0.comment)    \(access)var \($0.publicName): \($0.type) { \(name)Proxy.\($0.name) }"
      }
      let inherited = bases.map {
        // The compiler shows this line where there is no such face.
        "    // '\($0)' must be '@Forwardable' too, to be inherited.\n"
          + "    \(access)subscript<Message>(dynamicMember name: KeyPath<\($0)Proxy.Messages, Message>) "
          + "-> Message { \($0)Proxy.Messages()[keyPath: name] }"
      }
      let preparations = bases.map {
        "    \($0)Proxy.prepare(target)\n"
      }
      let declarations = members.map(\.member)
      let values =
        bases.map { "\($0)Proxy.Values" }
        + messages.map { "(\($0.type.dropFirst("Requirement<".count).dropLast()))" }
      let answers = members.flatMap(\.answers).map { "        \($0)" }
      return """
        \(attributes)\(isInView ? "" : "@FaceInView ")\(access)\(keyword) \(name)Proxy: \(name), \(isolation)ForwardingFace\(conformances) {
          \(access)typealias Target = any \(name)
          \(access)typealias SendableTarget = any \(name) & Sendable
          \(access)typealias Values = (\(values.joined(separator: ", ")))

        \(constants.joined(separator: "\n"))

          \(bases.isEmpty ? "" : "@dynamicMemberLookup ")\(access)nonisolated struct Messages: FaceMessages {
            \(access)init() {}

        \((names + inherited).joined(separator: "\n"))
          }

          \(isOfActors ? "nonisolated " : "")\(access)let forwarder: any ForwardingProxy & Sendable

          \(access)init(forwardingTo proxy: any ForwardingProxy & Sendable) { forwarder = proxy }

          \(access)static func target(_ target: any \(name) & Sendable) -> any \(name) { target }

          \(access)static func object(of target: any \(name)) -> AnyObject { target }

          \(access)static func prepare(_ target: any \(name)) {
        \(preparations.joined())    func prepare<Object: \(name)>(_ target: Object) {
              FaceMethods<Object>.prepare(for: Self.self) { methods in
        \(answers.joined(separator: "\n"))
              }
            }
            prepare(target)
          }

        \(declarations.joined(separator: "\n\n"))
        }
        """
    }
  }
#endif
