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
    /// The member, with its body, given where the face has the protocol.
    var member: (_ place: String) -> String
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

    /// Whether the requirement may be left out.
    var isOptional = false
    /// The protocol of the requirement.
    var target = ""

    /// The statement that calls the targets, or sends them a message with some values.
    ///
    /// - Parameters:
    ///   - call: the call of the requirement, without its receiver.
    ///   - place: where the face has the protocol.
    ///   - variables: those of the values that are `inout`.
    ///   - result: the type of the result.
    func sending(
      _ message: String, _ values: [String], call: String, at place: String,
      variables: [(name: String, type: String)] = [], result: String = ""
    ) -> String {
      let face = "\(target)Proxy"
      let closure = isVoid ? "" : " otherwise: { \(otherwise ?? "nil") }"
      let arguments = (["\(face).\(message)"] + values).joined(separator: ", ")
      if isAsync { return awaiting(message, arguments, closure) }
      let through =
        "\(place), \(face).\(message).selector" + (isOptional ? ", isOptional: true" : "")
      let direct =
        "{ (__target: borrowing Invocations.FaceTarget<any \(target)>) in "
        + "\(self.throws ? "try " : "")__target.value\(call) }"
      var statement = "try Forwarding.FaceMessage.send(\(arguments), through: &__delivery)"
      for (name, type) in variables {
        statement =
          "try Invocations.InoutVariable.lend(&\(name)) { (\(name): \(type)) throws -> \(result) in \(statement) }"
      }
      let send = "{ __delivery in \(statement) }"
      switch throwing {
      case .nothing where isVoid: return "__forwarder.tell(\(through), \(direct)) \(send)"
      case .nothing: return "__forwarder.ask(\(through), \(direct)) \(send)\(closure)"
      case .anything where otherwise == nil:
        return "try __forwarder.ask(\(through), \(direct)) \(send)"
      case .anything:
        return
          "try __forwarder.ask(\(through), orThrow: (any Error).self, \(direct)) \(send)\(closure)"
      case .only(let type):
        return
          "try __forwarder.\(isVoid ? "tell" : "ask")(\(through), orThrow: \(type).self, \(direct)) "
          + "\(send)\(closure)"
      }
    }

    private func awaiting(_ message: String, _ arguments: String, _ closure: String) -> String {
      let send =
        "{ await Forwarding.FaceMessage.sendAwaiting(\(arguments), through: __forwarder) }"
      let ask = "__forwarder.\(isVoid ? "tell" : "ask")Awaiting(\(target)Proxy.\(message).selector"
      let otherwise = isVoid ? "" : closure
      switch throwing {
      case .nothing: return "await \(ask)) \(send)\(otherwise)"
      case .anything where self.otherwise == nil:
        return "try await __forwarder.askAwaiting(\(target)Proxy.\(message).selector) \(send)"
      case .anything: return "try await \(ask), orThrow: (any Error).self) \(send)\(otherwise)"
      case .only(let type):
        return "try await \(ask), orThrow: \(type).self) \(send)\(otherwise)"
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
        (
          " where Self: ForwardingFace",
          members.map { $0.member("Self.__place(of: \(name)Proxy.self)") }
        ),
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
      let declarations = members.map { $0.member("0") }
      let values =
        bases.map { "\($0)Proxy.Values" }
        + messages.map { "(\($0.type.dropFirst("Requirement<".count).dropLast()))" }
      let answers = members.flatMap(\.answers).map { "        \($0)" }
      let faces = bases.map { "\($0)Proxy.self" }.joined(separator: ", ")
      let baseFaces = bases.isEmpty ? "" : ", bases: [\(faces)]"
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

          \(isOfActors ? "nonisolated " : "")\(access)let __forwarder: Forwarding.FaceForwarder

          \(access)init(forwardingTo proxy: any Forwarding.ForwardingProxy & Sendable) {
            __forwarder = Forwarding.FaceForwarder(proxy, for: \(name)Proxy.self)
          }

          \(access)static func target(_ target: any \(name) & Sendable) -> any \(name) { target }

          \(access)static func object(of target: any \(name)) -> AnyObject { target }

          \(access)static func prepare(_ target: any \(name)) {
        \(preparations.joined())    func prepare<Object: \(name)>(_ target: Object) {
              FaceMethods<Object>.prepare(for: Self.self, target as any \(name)\(baseFaces)) { methods in
        \(answers.joined(separator: "\n"))
              }
            }
            prepare(target)
          }

        \(places)\(declarations.joined(separator: "\n\n"))
        }
        """
    }

    /// Where the tables of a target have those of the protocols that are inherited.
    private var places: String {
      if bases.isEmpty { return "" }
      var offset = "1"
      var cases = ""
      for base in bases {
        cases += """
              if \(base)Proxy.__knows(face) { return \(offset) + \(base)Proxy.__place(of: face) }

          """
        offset += " + \(base)Proxy.__places"
      }
      return """
          \(access)nonisolated static func __place(of face: AnyClass) -> Int {
            if face == \(name)Proxy.self { return 0 }
        \(cases)    return 0
          }

          \(access)nonisolated static func __knows(_ face: AnyClass) -> Bool {
            face == \(name)Proxy.self\(bases.map { " || \($0)Proxy.__knows(face)" }.joined())
          }

          \(access)nonisolated static var __places: Int { \(offset) }


        """
    }
  }
#endif
