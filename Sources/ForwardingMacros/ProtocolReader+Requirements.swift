// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax

  // Reads a requirement, and writes its members of the proxy.
  extension ProtocolReader {
    mutating func read(_ requirement: Requirement) -> ProxyMember {
      subject = requirement.subject
      checkWaiting(requirement)
      if let result = requirement.result { check(result, isResult: true) }
      let parameters = readParameters(of: requirement)
      let answer = answer(requirement)
      if requirement.kind == .method { check(requirement, answer, parameters) }
      let noMessage =
        requirement.generics != nil
        ? "it has type parameters"
        : parameters.lazy.compactMap(\.isNoMessage).first ?? ownActor(requirement)
      let text = Text(requirement, parameters, isMessage: noMessage == nil)
      let head = front(requirement)
      if requirement.isStatic {
        if answer.isOptional { refuse(.optionalStatic, subject, at: requirement.name) }
        if requirement.isSettable { refuse(.settableStatic, subject, at: requirement.name) }
        let value = answer.isTold ? "" : answer.otherwise ?? answer.statement
        let member = "\(head)\(text.signature) { \(value) }"
        return ProxyMember(member: member, boxed: member)
      }
      var calls = [getting(requirement, answer, parameters, noMessage)]
      if requirement.isSettable {
        calls.append(setting(requirement, answer, parameters, noMessage))
      }
      var member = ProxyMember(
        messages: calls.map(\.message), member: head + text.with(calls.map(\.statement)),
        boxed: head + text.with(calls.map(\.boxed)))
      member.isMutating = calls.contains(where: \.isMutating)
      if noMessage == nil { member.answers = calls.map(\.registered) }
      if answer.isOptional {
        member.defaults = [
          requirement.isolation + proxy.access
            + text.with(
              calls.map(\.leftOut), hint: Self.defaultHint,
              set: proxy.isOfObjects ? "set" : "nonmutating set")
        ]
      }
      return member
    }

    /// The comment on the line at which the compiler reports that the program has a default, too.
    private static let defaultHint =
      "  // if it is there twice: remove the default in your extension, or '@Optional'\n"

    /// The declaration of a requirement in a class.
    private struct Text {
      let signature: String
      private let isMethod: Bool
      private let effects: String

      init(_ requirement: Requirement, _ parameters: [Parameter], isMessage: Bool) {
        isMethod = requirement.kind == .method
        effects = requirement.effects
        let generics = requirement.generics?.trimmedDescription ?? ""
        let clause = requirement.clause.map { " \($0.trimmedDescription)" } ?? ""
        let result = requirement.result?.trimmedDescription
        // Only what a message has is known to be copied.
        let declared = parameters.map { isMessage || $0.lent.isEmpty ? $0.declaration : $0.lent }
          .joined(separator: ", ")
        let returned = result.map { " -> \($0)" } ?? ""
        let text =
          switch requirement.kind {
          case .method:
            "func \(requirement.name.text)\(generics)(\(declared))\(effects)\(returned)\(clause)"
          case .property: "var \(requirement.name.text): \(result ?? "")"
          case .list: "subscript\(generics)(\(declared))\(returned)\(clause)"
          }
        signature = text.withoutSelf
      }

      /// The declaration with the statements of a method, or of a getter and a setter.
      func with(_ bodies: [String], hint: String = "", set: String = "set") -> String {
        if isMethod { return "\(signature) {\(hint) \(bodies[0]) }" }
        let setter = bodies.dropFirst().map { "\n    \(set) { \($0) }" }.joined()
        return "\(signature) {\(hint)\n    get\(effects) { \(bodies[0]) }\(setter)\n  }"
      }
    }

    private func form(_ requirement: Requirement) -> Call.Form {
      switch requirement.kind {
      case .method: .method(requirement.name.text)
      case .property: .property(requirement.name.text)
      case .list: .list
      }
    }

    /// The call of a method or a getter.
    private mutating func getting(
      _ requirement: Requirement, _ answer: Answer, _ parameters: [Parameter], _ noMessage: String?
    ) -> Call {
      let isMethod = requirement.kind == .method
      let labels = parameters.map(\.bareLabel)
      let words = [requirement.word] + labels
      let arguments = parameters.map(\.type)
      let result = resultType(requirement.result)
      let values = ([result] + arguments).joined(separator: ", ")
      let spelled = requirement.kind == .list ? "`subscript`" : requirement.name.spelled
      let message = MessageConstant(
        name: names.constant(words),
        publicName: noMessage == nil ? names.message(words, spelled: spelled) : "",
        result: result, arguments: arguments, isNoMessage: noMessage,
        selector: names.selector(SelectorName.of(requirement.word, labels)),
        spelling: requirement.subject,
        comment: requirement.comment,
        // An implicit conformance does not go through the type parameters of a proxy.
        valuesName: proxy.parameters.isEmpty
          ? names.values(requirement.signed(parameters), values) : nil)
      let isMutating =
        isMethod
        ? requirement.has("mutating") : requirement.getter?.modifier?.name.text == "mutating"
      var call = Call(
        proxy, answer, form(requirement), message, parameters,
        isMutating: isMutating && !proxy.isOfObjects)
      call.mayBeLater = isMethod && noMessage == nil && parameters.allSatisfy(\.escapes)
      return call
    }

    /// The call of a setter.
    private mutating func setting(
      _ requirement: Requirement, _ reading: Answer, _ parameters: [Parameter], _ noMessage: String?
    ) -> Call {
      var answer = Answer(isVoid: true)
      answer.isOptional = reading.isOptional
      let type = resultType(requirement.result)
      let isFunction = requirement.result.flatMap { $0.function ?? aliasedFunction($0) } != nil
      let value = Parameter(
        label: "_", name: "newValue", type: type, taken: isFunction ? "@escaping \(type)" : type,
        declaration: "")
      let isList = requirement.kind == .list
      let labels = parameters.map(\.bareLabel)
      let words = isList ? ["setSubscript"] + labels : ["set", requirement.word]
      let message = MessageConstant(
        name: names.constant(words),
        publicName: noMessage == nil ? names.message(words, spelled: words[0]) : "",
        result: Spelling.void, arguments: parameters.map(\.type) + [type], isNoMessage: noMessage,
        selector: names.selector(
          isList
            ? SelectorName.of("setSubscript", labels + ["value"])
            : SelectorName.setter(requirement.word)),
        spelling: requirement.subject, sharesValues: true)
      var call = Call(
        proxy, answer, form(requirement), message, parameters + [value],
        isMutating: !proxy.isOfObjects)
      call.isSetter = true
      return call
    }

    /// Diagnoses what only a method may be.
    private mutating func check(
      _ requirement: Requirement, _ answer: Answer, _ parameters: [Parameter]
    ) {
      if case .identifier = requirement.name.tokenKind {
      } else {
        refuse(.operatorFunction, requirement.name.text, at: requirement.name)
      }
      if answer.passesErrors, answer.isAsync, let thrown = requirement.thrown {
        refuse(.awaitedRethrows, subject, at: thrown)
      }
      if !answer.isAsync, !answer.throws, !answer.passesErrors,
        parameters.contains(where: \.throwsLate)
      {
        refuse(.delayedError, subject, at: requirement.name)
      }
    }

    /// The doc comment, attributes and modifiers of a member. Notes whether it is deprecated.
    private mutating func front(_ requirement: Requirement) -> String {
      let kept = requirement.attributes.filter {
        !["Otherwise", "Optional", "objc"].contains($0.attributeName.bareName)
      }
      proxy.hasDeprecated =
        proxy.hasDeprecated
        || kept.contains {
          $0.attributeName.bareName == "available"
            && $0.tokens(viewMode: .sourceAccurate).contains { $0.text == "deprecated" }
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
    /// The name with the types, as the compiler shows it where values are not `Sendable`.
    fileprivate func signed(_ parameters: [Parameter]) -> String {
      let type = result?.trimmedDescription
      if kind == .property { return "\(word): \(type ?? "")" }
      let typed = parameters.map(\.typed).joined(separator: ", ")
      return "\(kind == .list ? word : name.text)(\(typed))\(type.map { " -> \($0)" } ?? "")"
    }
  }
#endif
