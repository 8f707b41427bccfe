// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

// Reads a requirement, and writes its members of the proxy.
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
    if requirement.kind == .method { check(requirement, answer, parameters) }
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
      let value = answer.isTold ? "" : answer.otherwise ?? answer.statement
      let member = "\(head)\(signature) { \(value) }"
      return ProxyMember(member: member, boxed: member)
    }
    let calls = calls(of: requirement, answer, parameters, noMessage)
    func text(_ bodies: [String], hint: String = "", set: String = "set") -> String {
      if requirement.kind == .method { return "\(signature) {\(hint) \(bodies[0]) }" }
      let setter = bodies.dropFirst().map { "\n    \(set) { \($0) }" }.joined()
      return
        "\(signature) {\(hint)\n    get\(requirement.effects) { \(bodies[0]) }\(setter)\n  }"
    }
    var member = ProxyMember(
      calls: calls, member: head + text(calls.map(\.statement)),
      boxed: head + text(calls.map(\.boxed)))
    if answer.isOptional {
      member.leftOut =
        requirement.isolation + proxy.access
        + text(
          calls.map(\.leftOut), hint: Self.defaultHint,
          set: proxy.isOfObjects ? "set" : "nonmutating set")
    }
    return member
  }

  /// The comment on the line at which the compiler reports that the program has a default, too.
  private static let defaultHint =
    "  // if it is there twice: remove the default in your extension, or '@Optional'\n"

  /// The call of a method, or those of a getter and a setter.
  private mutating func calls(
    of requirement: Requirement, _ answer: Answer, _ parameters: [Parameter],
    _ noMessage: String?
  ) -> [Call] {
    let call = Call(
      proxy: proxy, requirement: requirement, isSetter: false, answer: answer,
      parameters: parameters,
      message: message(of: requirement, parameters, setting: nil, noMessage))
    guard requirement.isSettable, let result = requirement.result else { return [call] }
    let type = resultType(result)
    let value = Parameter(
      label: "_", name: "newValue", type: type,
      taken: function(result) != nil ? "@escaping \(type)" : type, value: "newValue")
    let told = Answer(isVoid: true, isOptional: answer.isOptional)
    return [
      call,
      Call(
        proxy: proxy, requirement: requirement, isSetter: true, answer: told,
        parameters: parameters + [value],
        message: message(of: requirement, parameters, setting: value, noMessage)),
    ]
  }

  /// Diagnoses what only a method may be.
  private mutating func check(
    _ requirement: Requirement, _ answer: Answer, _ parameters: [Parameter]
  ) {
    if answer.passesErrors, answer.isAsync, let thrown = requirement.thrown {
      refuse(.awaitedRethrows, subject, at: thrown)
    }
    if !answer.isAsync, answer.thrown == nil, !answer.passesErrors,
      parameters.contains(where: \.throwsLate)
    {
      refuse(.delayedError, subject, at: requirement.name)
    }
  }

  /// The doc comment, attributes and modifiers of a member.
  private func front(_ requirement: Requirement) -> String {
    let kept = requirement.attributes.filter {
      !["Otherwise", "Optional", "objc"].contains($0.attributeName.bareName)
    }
    // Proxies and boxes are classes, whose members are never mutating.
    let words =
      kept.map(\.trimmedDescription)
      + requirement.modifiers.filter { !["mutating", "nonmutating"].contains($0.name.text) }
      .map(\.trimmedDescription)
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
