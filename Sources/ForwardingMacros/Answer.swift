// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  /// The effects of a requirement, and its result when no target answers.
  struct Answer {
    enum Throwing { case nothing, anything, only(String) }

    var isVoid: Bool
    var isAsync = false
    /// Whether the requirement is `rethrows`: it throws the errors of its closure arguments.
    var passesErrors = false
    var throwing = Throwing.nothing
    /// The source of the value returned when no target answers; nil without a default value.
    var otherwise: String?
    /// The error in place of the value, as source.
    var failure: String?
    /// Whether the protocol says either.
    var hasOtherwise = false
    /// Whether the requirement may be left out.
    var isOptional = false

    /// Whether the requirement can throw any error at all.
    var `throws`: Bool { if case .nothing = throwing { false } else { true } }

    /// The `try` and `await` in front of a call.
    var marks: String { (self.throws || passesErrors ? "try " : "") + (isAsync ? "await " : "") }

    /// Whether the requirement has a result but no default value, and cannot throw an arbitrary
    /// error when no target answers.
    var needsOtherwise: Bool {
      if case .anything = throwing { return false }
      return !isVoid && !isAnswered
    }

    /// Whether the sender gets nothing, whatever the outcome.
    var isTold: Bool { isVoid && failure == nil }

    /// Whether the sender gets a value or an error if no target answers.
    var isAnswered: Bool { otherwise != nil || failure != nil }

    /// The statement that answers without a target; empty if nothing is returned.
    var statement: String {
      if let failure { return "throw \(failure)" }
      if isVoid { return "" }
      return otherwise.map { "return \($0)" }
        ?? "throw \(Spelling.forwarding)ForwardingError.nobodyAnswered(nil)"
    }

    /// The statements of a default implementation: they answer, and note that it was called. The
    /// note comes last, as an expression of the user may call an optional requirement, too.
    func leaving(_ note: String) -> String {
      statement.isEmpty ? note : "defer { \(note) }; \(statement)"
    }
  }

  /// A requirement, and the statements that implement it in a face and in a box.
  struct Sending {
    var answer: Answer
    /// The type of the face, as source.
    var face: String
    /// The type of a target, as source.
    var value: String
    /// The type of a target that is an object, as source.
    var target: String
    /// The name of the constant that holds the message.
    var message: String
    var values: [String]
    /// The call of the requirement, without its receiver.
    var call: String
    /// The same in a box, where it is no closure.
    var callAtOnce: String
    /// The statements that take `sending` arguments from the sender.
    var sent: [String] = []
    /// Whether a queue may call the requirement later, with the same values.
    var mayBeLater = false
    /// The values that are `inout` parameters.
    var variables: [(name: String, type: String)] = []
    /// The type of the result.
    var result = Spelling.void
    /// Whether the requirement is mutating, so that a call changes the target.
    var isMutating = false
    /// The reason why the requirement cannot be sent as a message; nil if it can.
    var isNoMessage: String?
    /// Whether the call of a target notes that it threw.
    var notesErrors = false

    /// The statements that implement the requirement in a box: they call its value, or a copy that is stored
    /// when an awaited requirement has changed it.
    ///
    /// - Parameter selector: the selector of the requirement.
    func boxed(_ selector: String) -> String {
      let otherwise = answer.statement.isEmpty ? "return" : answer.statement
      let isTaken = isMutating && !answer.isAsync
      var text =
        "guard \(isMutating ? "var" : "let") __target: \(value) = "
        + "self.\(isTaken ? "__take" : "__read")(\"\(selector)\") else { \(otherwise) }; "
      if isMutating { text += "defer { self.\(isTaken ? "__give" : "__keep")(&__target) }; " }
      let call = "\(answer.marks)__target\(callAtOnce)"
      if !answer.isOptional { return text + (setsValue ? "" : "return ") + call }
      // A closure that awaits the value would send it to the actor of its caller.
      if answer.isAsync {
        return text + "defer { \(Spelling.invocations)OptionalRequirement.passOnAwaited("
          + "\"\(selector)\", to: self) }; return \(call)"
      }
      var (type, head) = ("", "")
      if case .only(let thrown) = answer.throwing {
        type = ", orThrow: \(thrown).self"
        head = "() throws(\(thrown)) -> \(result) in "
      }
      return text + "return \(answer.marks)\(Spelling.invocations)OptionalRequirement."
        + "call(for: self, \"\(selector)\"\(type)) { \(head)\(call) }"
    }

    private var setsValue: Bool { callAtOnce.hasSuffix(" = newValue") }

    /// The index of the requirement's protocol among those of the face, as source.
    private var place: String { Face.place(of: face) }

    private var constant: String { "\(face).\(message)" }
    private var selector: String { isNoMessage == nil ? "\(constant).selector" : constant }

    /// The source that returns or throws if no target answers.
    private var otherwise: String {
      let thrown: String
      switch answer.throwing {
      case .nothing: return "otherwise: { \(answer.otherwise ?? (answer.isVoid ? "" : "nil")) }"
      case .anything: thrown = Spelling.anyError
      case .only(let type): thrown = type
      }
      // The compiler does not infer what a closure throws.
      return "otherwise: { () throws(\(thrown)) -> \(result) in "
        + "\(answer.failure.map { "throw \($0)" } ?? answer.otherwise ?? "nil") }"
    }

    /// The closure that calls the requirement of a target.
    private var direct: String {
      let taken = "(__target: borrowing \(Spelling.invocations)FaceTarget<\(target)>)"
      var called = "\(answer.marks)__target.value\(call)"
      if isMutating {
        called =
          "\(answer.marks)\(Spelling.forwarding)FaceMessage.changing(__target.value) { "
          + "(__target: inout \(target)) in \(answer.marks)__target\(call) }"
      }
      if !notesErrors { return "{ \(taken) in \(called) }" }
      return
        "{ \(taken) throws -> \(result) in "
        + "do { return \(called) } catch { __hasThrown = true; throw error } }"
    }

    /// The closure that hands the call to a queue; empty if the requirement cannot be called later.
    private var later: String {
      if !mayBeLater || !answer.isVoid || isMutating { return "" }
      let mark = self.answer.throws ? "try " : ""
      return
        ", later: { __later in __later.give(\(constant).travels) { __queued in try __queued.call { "
        + "(__target: borrowing \(Spelling.invocations)FaceTarget<\(target)>) in "
        + "\(mark)__target.value\(call) } orSend: { __delivery in \(send) } } }"
    }

    /// The statement that implements the requirement in a face.
    var statement: String {
      if sent.isEmpty { return delivered }
      return "\(sent.joined(separator: "; ")); \(answer.isAsync ? "" : "return ")\(delivered)"
    }

    /// The forwarder that delivers the requirement.
    private var forwarder: String {
      "self.__forwarder" + (sent.isEmpty ? "" : ".sending(for: \(face).self)")
    }

    private var delivered: String {
      if answer.passesErrors {
        var throwing = self
        throwing.answer.passesErrors = false
        throwing.answer.throwing = .only("(\(Spelling.anyError))")
        throwing.notesErrors = true
        return
          "\(answer.marks)\(forwarder).rethrow(\(selector)) { (__hasThrown: inout Bool) in "
          + "\(throwing.delivered) } otherwise: { \(answer.otherwise ?? "()") } "
          + "throwing: { throw $0 }"
      }
      if answer.isAsync { return awaiting }
      let through = "\(place), \(selector)" + settings
      let (ask, tell) = (
        "\(answer.marks)\(forwarder).ask", "\(answer.marks)\(forwarder).tell"
      )
      switch answer.throwing {
      case .nothing where answer.isVoid:
        return "\(tell)(\(through), \(direct)\(later)) { __delivery in \(send) }"
      case .nothing:
        return "\(ask)(\(through), \(direct)\(later)) { __delivery in \(send) } \(otherwise)"
      case .anything where !answer.isAnswered:
        return "\(ask)(\(through), \(direct)\(later)) { __delivery in \(send) }"
      case .anything:
        return
          "\(ask)(\(through), orThrow: (\(Spelling.anyError)).self, \(direct)\(later)) { __delivery in \(send) } \(otherwise)"
      case .only(let type):
        return
          "\(answer.isTold ? tell : ask)(\(through), orThrow: \(type).self, \(direct)\(later)) "
          + "{ __delivery in \(send) }\(answer.isTold ? "" : " \(otherwise)")"
      }
    }

    /// The source that sends the message, or throws the reason why there is no message.
    private var send: String {
      if !sent.isEmpty {
        return
          "try \(Spelling.forwarding)FaceMessage.refuseSent(\(constant), by: self.__forwarder, "
          + "through: &__delivery)"
      }
      if let isNoMessage {
        return
          "try \(Spelling.forwarding)FaceMessage.refuse(\(constant), because: \"\(isNoMessage)\", "
          + "through: &__delivery)"
      }
      let arguments = ([constant] + values).joined(separator: ", ")
      let send = "\(Spelling.forwarding)FaceMessage.send"
      if answer.isAsync { return "try await \(send)Awaiting(\(arguments), through: &__delivery)" }
      return variables.reduce("try \(send)(\(arguments), through: &__delivery)") { sent, variable in
        "try \(Spelling.invocations)InoutVariable.lend(&\(variable.name)) { "
          + "(\(variable.name): \(variable.type)) throws -> (\(result))? in \(sent) }"
      }
    }

    /// What the delivery needs to know.
    private var settings: String {
      var settings = answer.isOptional ? ", isOptional: true" : ""
      if answer.isAsync, case .anything = answer.throwing { settings += ", endsWithTask: true" }
      return settings + (answer.hasOtherwise ? ", hasOtherwise: true" : "")
    }

    private var awaiting: String {
      let changed = isMutating ? "var __changed = __target; " : ""
      return """
        var __delivery = \(forwarder).awaiting(\(place), \(selector)\(settings), as: (\(result)).self)
        while __delivery.begins() {
          do {
            if let __target = __delivery.target(as: (\(target)).self) {
              \(changed)__delivery.answer(\(answer.marks)\(isMutating ? "__changed" : "__target")\(call))
            } else {
              __delivery.answer(\(send))
            }
          } catch {
            __delivery.fail(error)
          }
        }
        \(conclusion)
        """
    }

    /// The statement that ends an awaited delivery with a result or an error.
    private var conclusion: String {
      switch answer.throwing {
      case .nothing where answer.isVoid: return "__delivery.tell()"
      case .nothing: return "return __delivery.ask(\(otherwise))"
      case .anything where !answer.isAnswered: return "return try __delivery.ask()"
      case .anything:
        return "return try __delivery.ask(orThrow: (\(Spelling.anyError)).self, \(otherwise))"
      case .only(let type) where answer.isTold: return "try __delivery.tell(orThrow: \(type).self)"
      case .only(let type):
        return "return try __delivery.ask(orThrow: \(type).self, \(otherwise))"
      }
    }
  }
#endif
