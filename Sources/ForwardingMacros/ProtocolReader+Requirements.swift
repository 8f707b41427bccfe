// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

// Reads a requirement, diagnoses what is refused of it, and writes its members of the proxy.
extension ProtocolReader {
  mutating func read(_ requirement: Requirement) -> ProxyMember {
    subject = requirement.subject
    checkWaiting(requirement)
    if let result = requirement.result { check(result, isResult: true) }
    for parameter in requirement.parameters {
      check(parameter.type)
      if let dots = parameter.ellipsis { refuse(.variadic, subject, at: dots) }
    }
    let parameters = readParameters(of: requirement)
    let answer = answer(requirement)
    if !answer.isAsync, answer.thrown == nil, !answer.passesErrors,
      parameters.contains(where: \.throwsLate)
    {
      refuse(.delayedError, subject, at: requirement.name)
    }
    let noMessage =
      requirement.generics != nil
      ? "it has type parameters"
      : parameters.lazy.compactMap(\.isNoMessage).first ?? ownActor(requirement)
    // Only what a message has is known to be copied.
    let declared = parameters.map { noMessage == nil ? $0.declaration : $0.lent }
    let signature = requirement.signature(declared).withoutSelf
    let head = front(requirement)
    if requirement.isStatic {
      if answer.isOptional { refuse(.optionalStatic, subject, at: requirement.name) }
      if requirement.isSettable { refuse(.settableStatic, subject, at: requirement.name) }
      let value = answer.otherwise ?? answer.statement
      let member = "\(head)\(signature) { \(value) }"
      return ProxyMember(member: member, boxed: member)
    }
    let calls = calls(of: requirement, answer, parameters, noMessage)
    func text(_ bodies: [String], hint: String = "", set: String = "set") -> String {
      if requirement.kind == .method { return "\(signature) {\(hint) \(bodies[0]) }" }
      let setter = bodies.dropFirst().map { "\n    \(set) { \($0) }" }.joined()
      return "\(signature) {\(hint)\n    get\(requirement.effects) { \(bodies[0]) }\(setter)\n  }"
    }
    var member = ProxyMember(
      calls: calls, member: head + text(calls.map(\.statement)),
      boxed: head + text(calls.map(\.boxed)))
    if answer.isOptional {
      // The compiler reports on this line that the program has a default, too.
      let hint = "  // if it is there twice: remove the default in your extension, or '@Optional'\n"
      member.leftOut =
        requirement.isolation + proxy.access
        + text(calls.map(\.leftOut), hint: hint, set: proxy.isOfObjects ? "set" : "nonmutating set")
    }
    return member
  }

  /// The call of a method, or those of a getter and a setter.
  private mutating func calls(
    of requirement: Requirement, _ answer: Answer, _ parameters: [Parameter], _ noMessage: String?
  ) -> [Call] {
    let call = call(requirement, answer, parameters, setting: nil, noMessage)
    guard requirement.isSettable, let result = requirement.result else { return [call] }
    let type = resultType(result)
    let value = Parameter(
      label: "_", name: "newValue", type: type,
      taken: function(result) == nil ? type : "@escaping \(type)", value: "newValue")
    let told = Answer(isVoid: true, isOptional: answer.isOptional)
    return [call, self.call(requirement, told, parameters, setting: value, noMessage)]
  }

  /// Diagnoses a type that a proxy cannot take as an argument or return.
  private mutating func check(_ type: TypeSyntax, isResult: Bool = false) {
    let specifiers = type.as(AttributedTypeSyntax.self)?.specifiers ?? []
    for specifier in specifiers where specifier.trimmedDescription == "sending" {
      if isResult {
        refuse(.sendingResult, subject, at: specifier)
      } else if specifiers.contains(where: { $0.trimmedDescription == "inout" }) {
        refuse(.sendingVariable, subject, at: specifier)
      } else if type.function != nil, !type.attributes.contains("@escaping") {
        refuse(.sendingClosure, subject, at: specifier)
      }
    }
    // The compiler crashes on a closure that captures one.
    if type.is(TupleTypeSyntax.self), type.hasToken({ $0.text == "repeat" }) {
      refuse(.tupleOfPack, subject, at: type)
    }
    for token in type.tokens(viewMode: .sourceAccurate) {
      // `Self.Item` names a type, and is allowed.
      let isPrefix = token.nextToken(viewMode: .sourceAccurate)?.tokenKind == .period
      if token.tokenKind == .keyword(.Self) || alias(token.text)?.namesSelf == true, !isPrefix {
        refuse(.selfType, subject, name, at: token)
      } else if token.text == "~" {
        refuse(.noncopyable, subject, at: type)
      }
    }
  }

  /// Diagnoses a synchronous requirement of an actor: the proxy is another actor, and cannot call
  /// the target without awaiting it.
  private mutating func checkWaiting(_ requirement: Requirement) {
    if !proxy.isOfActors || requirement.has("nonisolated") { return }
    let advice = requirement.kind == .method ? "add 'async'" : "write an 'async' method"
    if requirement.kind != .method || !requirement.isAsync {
      refuse(.actorWaits, subject, advice, at: requirement.name)
    }
  }

  /// The reason why a requirement that is isolated to another actor than its protocol cannot be
  /// sent as a message: a message may be sent from any thread.
  private func ownActor(_ requirement: Requirement) -> String? {
    let own = requirement.attributes.first(where: \.namesGlobalActor)?.trimmedDescription
    guard let own, own != proxy.actor, !requirement.isAsync else { return nil }
    return "it belongs to an actor, and its protocol does not"
  }

  /// The doc comment, attributes and modifiers of a member.
  private func front(_ requirement: Requirement) -> String {
    let kept = requirement.attributes.filter {
      !["Otherwise", "Optional", "objc"].contains($0.attributeName.bareName)
    }
    // Proxies and boxes are classes, whose members are never mutating.
    let words =
      kept.map(\.trimmedDescription)
      + requirement.modifiers.filter { !["mutating", "nonmutating"].contains($0.name.text) }.map(
        \.trimmedDescription)
    return requirement.comment + "  " + words.map { $0 + " " }.joined() + proxy.access
  }
}

extension Requirement {
  /// The declaration with these parameters, up to its accessors or its body.
  fileprivate func signature(_ parameters: [String]) -> String {
    let declared = parameters.joined(separator: ", ")
    let generics = generics?.trimmedDescription ?? ""
    let clause = clause.map { " \($0.trimmedDescription)" } ?? ""
    let result = result?.trimmedDescription
    let returned = result.map { " -> \($0)" } ?? ""
    return switch kind {
    case .method: "func \(name.text)\(generics)(\(declared))\(effects)\(returned)\(clause)"
    case .property: "var \(name.text): \(result ?? "")"
    case .list: "subscript\(generics)(\(declared))\(returned)\(clause)"
    }
  }
}
