// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax

  // Reads methods.
  extension ProtocolReader {
    mutating func read(_ function: FunctionDeclSyntax) -> FaceMember? {
      subject =
        "\(function.name.bare)(\(function.signature.parameterClause.parameters.map(\.firstName.text).labels))"
      checkWaiting(function)
      let effects = function.signature.effectSpecifiers
      let isAsync = effects?.asyncSpecifier != nil
      let generic = function.genericParameterClause?.trimmedDescription ?? ""
      let clause = function.genericWhereClause.map { " \($0.trimmedDescription)" } ?? ""
      let types = function.genericParameterClause?.parameters.map(\.name.text) ?? []
      let copied = (generic + clause).contains("~") ? [] : types
      let parameters = function.signature.parameterClause.parameters.enumerated().map {
        read($0.element, number: $0.offset, isAsync: isAsync, copied: copied)
      }
      let result = function.signature.returnClause?.type
      if let result { check(result, isResult: true) }
      let name = function.name.word
      if case .identifier = function.name.tokenKind {
      } else {
        refuse(.operatorFunction(function.name.text), at: function.name)
      }
      let thrown = effects?.throwsClause
      var answer = answer(
        result, function.attributes, thrown, of: function.funcKeyword, name: function.name,
        function.genericParameterClause)
      answer.isAsync = isAsync
      if answer.passesErrors, isAsync, let thrown { refuse(.awaitedRethrows(subject), at: thrown) }
      if !isAsync, !answer.throws, !answer.passesErrors,
        parameters.contains(where: { $0.isDelayed && $0.delayedThrows })
      {
        refuse(.delayedError(subject), at: function.name)
      }
      let noMessage =
        function.genericParameterClause != nil
        ? "it has type parameters"
        : parameters.firstReason ?? ownActor(function.attributes, isAsync)
      let declared = declared(parameters, isMessage: noMessage == nil)
      let throwing = (isAsync ? " async" : "") + (thrown.map { " \($0.trimmedDescription)" } ?? "")
      let returning = result.map { " -> \($0.trimmedDescription)" } ?? ""
      let signature =
        "func \(function.name.text)\(generic)(\(declared))\(throwing)\(returning)\(clause)"
        .withoutSelf
      let head = front(function.attributes, function.modifiers, function)
      if isStatic(function.modifiers) {
        return staticMember(head, signature, answer, function.name)
      }
      let words = [name] + parameters.map(\.bareLabel)
      let selector = unusedSelector(SelectorName.of(name, parameters.map(\.bareLabel)))
      let values = ([resultType(result)] + parameters.map(\.type)).joined(separator: ", ")
      let constant = MessageConstant(
        name: messageName(words),
        publicName: noMessage == nil ? publicName(words, spelled: function.name.spelled) : "",
        types: noMessage == nil ? values : nil, selector: selector, comment: comment(of: function),
        valuesName: valuesName("\(function.name.text)\(signed(parameters, result))", values))
      let call = ".\(function.name.text)(\(parameters.map(\.passed).joined(separator: ", ")))"
      let isMutating = function.modifiers.contains { $0.name.text == "mutating" }
      let sending = Sending(
        answer: answer, face: face.type, value: face.target, target: face.objectTarget,
        message: constant.name,
        values: parameters.map(\.name), call: call,
        callAtOnce:
          ".\(function.name.text)(\(parameters.map(\.passedAtOnce).joined(separator: ", ")))",
        sent: parameters.sent,
        mayBeLater: noMessage == nil && parameters.allSatisfy(\.escapes),
        variables: parameters.compactMap { parameter in
          parameter.variable.map { _ in (parameter.name, parameter.type) }
        }, result: resultType(result), isMutating: isMutating && !face.isOfObjects,
        isNoMessage: noMessage)
      var member = FaceMember(
        messages: [constant], member: "\(head)\(signature) { \(sending.statement) }",
        boxed: "\(head)\(signature) { \(sending.boxed(selector)) }")
      member.isMutating = isMutating
      if answer.isOptional {
        member.defaults = [
          "\(isolation(function.attributes, function.modifiers))\(face.access)\(signature) {\(Self.defaultHint)\n\(answer.leaving(leavingOut(selector))) }"
        ]
      }
      if noMessage == nil {
        member.answers = [
          self.answer(
            constant, parameters, answer, resultType(result), isMutating: sending.isMutating,
            call: { values in
              ".\(function.name.text)(\(zip(parameters, values).map { $0.passing($1) }.joined(separator: ", ")))"
            })
        ]
      }
      return member
    }

    /// A static requirement, which is sent to no target: it returns its default value, or throws.
    mutating func staticMember(
      _ head: String, _ signature: String, _ answer: Answer, _ name: TokenSyntax
    ) -> FaceMember {
      if answer.isOptional { refuse(.optionalStatic(subject), at: name) }
      let body =
        answer.isTold ? "" : answer.otherwise ?? answer.statement
      let text = "\(head)\(signature) { \(body) }"
      return FaceMember(member: text, boxed: text)
    }

    /// The comment on the line at which the compiler reports that the program has a default, too.
    static let defaultHint =
      "  // if it is there twice: remove the default in your extension, or '@Optional'"

    /// The call that records that an object lacks an optional requirement.
    func leavingOut(_ selector: String) -> String {
      let object = face.isOfObjects ? "self" : "by: self"
      return "\(Spelling.invocations)OptionalRequirement.leaveOut(\(object), \"\(selector)\")"
    }
  }
#endif
