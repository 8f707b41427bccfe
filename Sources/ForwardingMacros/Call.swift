// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// A call of a method, a getter or a setter as source: that of a proxy's member, of its box, and of a message to
/// a target.
///
/// Whatever the runtime takes of the code of proxies is written here.
struct Call {
  let proxy: Proxy
  let requirement: Requirement
  /// Whether the last parameter is the new value of a property or a subscript.
  let isSetter: Bool
  var answer: Answer
  let parameters: [Parameter]
  /// The name of the constant that holds the message.
  let name: String
  /// The name of the message in the proxy's `__Messages`.
  let publicName: String
  let selector: String
  /// The type of the result.
  let result: String
  /// The reason why the requirement cannot be sent as a message: the proxy has its selector alone. nil if it can.
  let isNoMessage: String?
  /// The type of its values, which a compiler names that misses `Sendable`; nil for those that are so by their names,
  /// and for a setter, whose getter carries the same.
  let valuesName: String?

  /// Whether a call changes the target.
  var isMutating: Bool { !proxy.isOfObjects && (isSetter || requirement.isMutating) }

  /// The source behind the receiver of a call with these values.
  private func with(_ values: [String]) -> String {
    let given = zip(parameters, values).map { $0.passing($1) }
    let arguments = (isSetter ? Array(given.dropLast()) : given).joined(separator: ", ")
    let end = isSetter ? " = \(given.last ?? "")" : ""
    return switch requirement.kind {
    case .method: ".\(requirement.name.text)(\(arguments))"
    case .property: ".\(requirement.name.text)\(end)"
    case .list: "[\(arguments)]\(end)"
    }
  }

  /// The call in a closure, which takes `sending` arguments from their place.
  private var call: String { with(parameters.map(\.sentValue)) }

  // MARK: The member of a proxy

  private var constant: String { "\(proxy.type).\(name)" }
  private var sentSelector: String { isNoMessage == nil ? "\(constant).selector" : constant }

  /// The statements that take the `sending` arguments from the sender.
  private var sent: [String] {
    parameters.compactMap { parameter in
      parameter.sent.map { "let \($0) = \(Spelling.forwarding)_SentArgument(\(parameter.name))" }
    }
  }

  /// The forwarder that delivers the requirement.
  private var forwarder: String {
    "self.__forwarder" + (sent.isEmpty ? "" : ".sending(for: \(proxy.type).self)")
  }

  /// The statements that implement the requirement in a proxy.
  var statement: String {
    let end = sent.isEmpty || answer.isAsync ? "" : "return "
    return sent.map { $0 + "; " }.joined() + end + delivered
  }

  private var delivered: String {
    if answer.passesErrors, answer.thrown == nil { return rethrowing }
    if answer.isAsync { return awaiting }
    return "\(answer.marks)\(forwarder).deliver(\(site), \(sentSelector), \(direct)\(later)) { "
      + "__delivery in \(send) }\(end)"
  }

  /// What the sender gets of a delivery.
  private var end: String {
    ".get(self.__forwarder, \(sentSelector)\(otherwise.map { ", \($0)" } ?? ""))"
  }

  /// The closure that returns or throws if no target answers.
  private var otherwise: String? {
    // The sender gets whatever error there is, also that of no target.
    if answer.throwsAny && answer.otherwise == nil && answer.failure == nil { return nil }
    let value =
      answer.failure.map { "throw \($0)" } ?? answer.otherwise ?? (answer.isVoid ? "" : "nil")
    // The compiler does not infer what a closure throws.
    let head = answer.thrown.map { "() throws(\($0)) -> \(result) in " } ?? ""
    return "otherwise: { \(head)\(value) }"
  }

  private var rethrowing: String {
    var throwing = self
    throwing.answer.thrown = Answer.anyError
    return "\(answer.marks)\(forwarder).rethrow(\(sentSelector)) { (__hasThrown: inout Bool) in "
      + "\(throwing.delivered) } otherwise: { \(answer.otherwise ?? "()") } throwing: { throw $0 }"
  }

  private var target: String {
    "(__target: borrowing \(Spelling.invocations)ProxyTarget<\(proxy.objectTarget)>)"
  }

  /// The closure that calls the requirement of a target.
  private var direct: String {
    var called = "\(answer.marks)__target.value\(call)"
    if isMutating {
      called =
        "\(answer.marks)\(Spelling.forwarding)_ProxyMessage.changing(__target.value) { "
        + "(__target: inout \(proxy.objectTarget)) in \(answer.marks)__target\(call) }"
    }
    if !answer.passesErrors { return "{ \(target) in \(called) }" }
    return "{ \(target) throws -> \(result) in "
      + "do { return \(called) } catch { __hasThrown = true; throw error } }"
  }

  /// The closure that hands the call to a queue; empty if the requirement cannot be called later.
  private var later: String {
    let mayBeLater =
      requirement.kind == .method && isNoMessage == nil && answer.isVoid && !isMutating
      && parameters.allSatisfy(\.escapes)
    if !mayBeLater { return "" }
    return
      ", later: { __later in __later.give(\(constant).__travels) { __queued in try __queued.call { "
      + "\(target) in \(answer.thrown != nil ? "try " : "")__target.value\(call) } "
      + "orSend: { __delivery in \(send) } } }"
  }

  /// The source that sends the message, or throws the reason why there is no message.
  private var send: String {
    let (messages, end) = (
      "\(Spelling.forwarding)_ProxyMessage",
      "through: &__delivery\(answer.isAsync ? ".message" : ""))"
    )
    if !sent.isEmpty {
      return "try \(messages).refuseSent(\(constant), by: self.__forwarder, \(end)"
    }
    if let isNoMessage {
      return "try \(messages).refuse(\(constant), because: \"\(isNoMessage)\", \(end)"
    }
    let arguments = ([constant] + parameters.map(\.name)).joined(separator: ", ")
    if answer.isAsync { return "try await \(messages).sendAwaiting(\(arguments), \(end)" }
    return parameters.reduce("try \(messages).send(\(arguments), \(end)") { sent, parameter in
      parameter.variable == nil
        ? sent
        : "try \(Spelling.invocations)InoutVariable.lend(&\(parameter.name)) { "
          + "(\(parameter.name): \(parameter.type)) throws -> (\(result))? in \(sent) }"
    }
  }

  /// What the delivery needs to know.
  private var site: String {
    "\(Spelling.invocations)ProxySite<(\(result))>(\(proxy.place)"
      + (answer.isOptional ? ", isOptional: true" : "")
      + (answer.hasOtherwise ? ", hasOtherwise: true" : "")
      + (answer.throwing.map { ", throwing: .\($0)" } ?? "")
      + (answer.combine.map { ", combine: \($0)" } ?? "") + ")"
  }

  private var awaiting: String {
    let changed = isMutating ? "var __changed = __target; " : ""
    return """
      var __delivery = \(forwarder).awaiting(\(site), \(sentSelector))
      while __delivery.begins() {
        do {
          if let __target = __delivery.target(as: (\(proxy.objectTarget)).self) {
            \(changed)__delivery.answer(\(answer.marks)\(isMutating ? "__changed" : "__target")\(call))
          } else {
            __delivery.answer(\(send))
          }
        } catch {
          __delivery.fail(error)
        }
      }
      return \(self.answer.thrown != nil ? "try " : "")__delivery.conclude()\(end)
      """
  }

  // MARK: The member of a box

  /// The statements that implement the requirement in a box: they call its value, or a copy that is
  /// stored when an awaited requirement has changed it.
  var boxed: String {
    let otherwise = answer.statement.isEmpty ? "return" : answer.statement
    let isTaken = isMutating && !answer.isAsync
    var text =
      "guard \(isMutating ? "var" : "let") __target: \(proxy.target) = "
      + "self.\(isTaken ? "__take" : "__read")(\"\(selector)\") else { \(otherwise) }; "
    if isMutating { text += "defer { self.\(isTaken ? "__give" : "__keep")(&__target) }; " }
    if answer.isOptional {
      let optional = "\(Spelling.invocations)OptionalRequirement"
      let end = answer.isAsync ? "Awaited" : ""
      text += answer.isAsync ? "" : "\(optional).forget(); "
      text += "defer { \(optional).passOn\(end)(\"\(selector)\", to: self) }; "
    }
    return text + (isSetter ? "" : "return ")
      + "\(answer.marks)__target\(with(parameters.map(\.value)))"
  }

  // MARK: The default of an optional requirement

  /// The statements of the default: they answer, and note that an object leaves the requirement out. The
  /// note comes last, as an expression of the user may call an optional requirement, too.
  var leftOut: String {
    let object = proxy.isOfObjects ? "self" : "by: self"
    let note = "\(Spelling.invocations)OptionalRequirement.leaveOut(\(object), \"\(selector)\")"
    return answer.statement.isEmpty ? note : "defer { \(note) }; \(answer.statement)"
  }

  // MARK: The method of a target for the message

  /// The statement that registers the objects of a class for the message.
  var registered: String {
    let isAsync = answer.isAsync
    // The only argument of an awaited call is not in a tuple.
    let values = parameters.indices.map { index in
      !isAsync
        ? "__value\(index)" : parameters.count == 1 ? "__call.values" : "__call.values.\(index)"
    }
    let object = isAsync ? "__call.object" : "__object"
    var body = "\(answer.marks)\(object)\(with(values))"
    if isMutating, isAsync {
      body = "var __object = __call.object; return \(answer.marks)__object\(with(values))"
    } else if isMutating {
      body =
        "\(answer.marks)\(Spelling.forwarding)_ProxyMessage.changing(\(object)) { "
        + "(__object: inout __Object) in \(answer.marks)__object\(with(values)) }"
    }
    for (index, parameter) in parameters.enumerated() {
      guard let variable = parameter.variable else { continue }
      body = "try __value\(index).change { (__value\(index): inout \(variable)) in \(body) }"
    }
    if answer.isOptional {
      body =
        "try \(isAsync ? "await " : "")\(Spelling.invocations)OptionalRequirement."
        + "run\(isAsync ? "Awaiting" : "")(\"\(selector)\", of: \(object)) { \(body) }"
    }
    let made: String
    if isAsync {
      let types = (["__Object"] + parameters.map(\.type)).joined(separator: ", ")
      made =
        "(\(proxy.isOfActors ? "crossing" : "awaiting"): { (__call: "
        + "\(Spelling.invocations)ProxyCall<\(types)>) async throws -> \(result) in \(body) })"
    } else {
      let taken =
        ["__object: __Object"] + parameters.enumerated().map { "__value\($0): \($1.taken)" }
      made = " { (\(taken.joined(separator: ", "))) -> \(result) in \(body) }"
    }
    return "__methods.answer(\(name), \(answer.isOptional ? "isOptional: true, " : "")"
      + "unsafe \(Spelling.invocations)ProxyBody\(made))"
  }
}
