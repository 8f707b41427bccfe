// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax

  // Helpers for both methods and properties.
  extension ProtocolReader {
    func isStatic(_ modifiers: DeclModifierListSyntax) -> Bool {
      modifiers.contains { ["static", "class"].contains($0.name.text) }
    }

    /// The type behind a type alias of the protocol.
    func alias(_ name: String) -> TypeSyntax? {
      declaration.memberBlock.members.lazy.compactMap { $0.decl.as(TypeAliasDeclSyntax.self) }
        .first { $0.name.text == name }?.initializer.value
    }

    /// Diagnoses a type that a face cannot take as an argument or return.
    mutating func check(_ type: TypeSyntax, isResult: Bool = false) {
      let specifiers = type.as(AttributedTypeSyntax.self)?.specifiers ?? []
      for specifier in specifiers where specifier.trimmedDescription == "sending" {
        if isResult {
          refuse(.sendingResult(subject), at: specifier)
        } else if specifiers.contains(where: { $0.trimmedDescription == "inout" }) {
          refuse(.sendingVariable(subject), at: specifier)
        } else if type.isLentClosure {
          refuse(.sendingClosure(subject), at: specifier)
        }
      }
      // The compiler crashes on a closure that captures one.
      if type.is(TupleTypeSyntax.self),
        type.tokens(viewMode: .sourceAccurate).contains(where: { $0.text == "repeat" })
      {
        refuse(.tupleOfPack(subject), at: type)
      }
      for token in type.tokens(viewMode: .sourceAccurate) {
        // `Self.Item` names a type, and is allowed.
        let isPrefix = token.nextToken(viewMode: .sourceAccurate)?.tokenKind == .period
        if token.tokenKind == .keyword(.Self) || alias(token.text)?.namesSelf == true, !isPrefix {
          refuse(.selfType(subject, of: name), at: token)
        } else if token.tokenKind == .keyword(.some), isResult {
          refuse(.opaque(subject), at: token, "write 'any'", replacing(token, "any"))
        } else if token.text == "~" {
          refuse(.noncopyable(subject), at: type)
        }
      }
    }

    /// The doc comment of a member, as lines.
    func comment(of member: some SyntaxProtocol) -> String {
      member.leadingTrivia.compactMap { piece -> String? in
        switch piece {
        case .docLineComment(let text), .docBlockComment(let text): "  \(text)\n"
        default: nil
        }
      }.joined()
    }

    /// The doc comment, attributes and modifiers of a member. Notes whether it is deprecated.
    mutating func front(
      _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax,
      _ member: some SyntaxProtocol
    ) -> String {
      let kept = attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
        !["Otherwise", "Optional", "objc"].contains($0.attributeName.bareName)
      }
      face.hasDeprecated =
        face.hasDeprecated
        || kept.contains {
          $0.attributeName.bareName == "available"
            && $0.tokens(viewMode: .sourceAccurate).contains { $0.text == "deprecated" }
        }
      // Faces and boxes are classes, whose members are never mutating.
      let words =
        kept.map(\.trimmedDescription)
        + modifiers.filter { !["mutating", "nonmutating"].contains($0.name.text) }
        .map(\.trimmedDescription)
      return comment(of: member) + "  " + words.map { $0 + " " }.joined() + face.access
    }

    /// Reads the effects of a requirement, and its result when no target answers. Diagnoses a
    /// missing default value, and misplaced markers.
    mutating func answer(
      _ result: TypeSyntax?, _ attributes: AttributeListSyntax, _ thrown: ThrowsClauseSyntax?,
      of keyword: TokenSyntax, name: TokenSyntax, _ generics: GenericParameterClauseSyntax? = nil
    ) -> Answer {
      var answer = Answer(isVoid: result?.isVoid ?? true)
      switch thrown.map({ $0.type?.trimmedDescription ?? "any Error" }) {
      case _ where thrown?.throwsSpecifier.text == "rethrows": answer.passesErrors = true
      case "any Error", "any Swift.Error", "Error", "Swift.Error": answer.throwing = .anything
      case let type? where type != "Never": answer.throwing = .only(type.withoutSelf)
      default: break
      }
      let own = attributes.compactMap { $0.as(AttributeSyntax.self) }
      let values = own.filter { $0.attributeName.bareName == "Otherwise" }
      let options = own.filter { $0.attributeName.bareName == "Optional" }
      answer.isOptional = !options.isEmpty
      if let second = values.dropFirst().first { refuse(.twice("Otherwise", subject), at: second) }
      if let second = options.dropFirst().first { refuse(.twice("Optional", subject), at: second) }
      if let option = options.first, foreign != nil {
        refuse(.foreignOptional(subject), at: option)
      }
      if case .argumentList(let list)? = values.first?.arguments, let first = list.first {
        let text = first.expression.trimmedDescription
        if first.label?.text == "throw" { answer.failure = text } else { answer.otherwise = text }
        answer.hasOtherwise = true
        if answer.isVoid, answer.failure == nil || !answer.throws, let value = values.first {
          refuse(.answerToNothing(subject), at: value)
        }
        if answer.failure != nil, !answer.isVoid, !answer.throws {
          refuse(.throwsNothing(subject), at: first.expression)
        }
        if first.expression.trimmedDescription.hasPrefix("<#") {
          refuse(.placeholder(subject), at: first.expression)
        }
        if let result, answer.failure == nil, isOfAnyType(result, generics),
          !text.hasPrefix("fatalError(")
        {
          refuse(.answerOfAnyType(subject, result.trimmedDescription), at: first.expression)
        }
      } else if result?.isOptional ?? false {
        answer.otherwise = "nil"
      }
      if answer.needsOtherwise, let result, !result.namesSelf {
        if isOfAnyType(result, generics) {
          refuse(.answerOfAnyType(subject, result.trimmedDescription), at: name)
        } else {
          refuse(
            .noAnswer(subject, orThrows: answer.throws), at: name, "add '@Otherwise'",
            replacing(keyword, "@Otherwise(<#value#>) \(keyword.text)"))
        }
      }
      return answer
    }

    /// Whether a result is of an associated type, or a type parameter, that says nothing about its values.
    private func isOfAnyType(_ result: TypeSyntax, _ generics: GenericParameterClauseSyntax?)
      -> Bool
    {
      let name = result.trimmedDescription.withoutSelf
      return associatedTypes.contains {
        $0.name.text == name && $0.inheritanceClause == nil && $0.genericWhereClause == nil
      }
        || generics?.parameters.contains { $0.name.text == name && $0.inheritedType == nil } == true
    }

    mutating func unusedSelector(_ selector: String) -> String {
      unused(selector, &names.selectors) { selector, number in
        let end = selector.firstIndex(of: ":") ?? selector.endIndex
        return selector[..<end] + "_\(number)" + selector[end...]
      }
    }

    mutating func messageName(_ words: [String]) -> String {
      let name = "__message_" + words.filter { !$0.isEmpty }.joined(separator: "_")
      return unused(name, &names.constants) { "\($0)_\($1)" }
    }

    /// The public name of a message: all words in camel case. A name of one word retains its
    /// backticks.
    mutating func publicName(_ words: [String], spelled: String) -> String {
      let words = words.filter { !$0.isEmpty }
      let tail = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
      let name = tail.isEmpty ? spelled : words[0] + tail.joined()
      return unused(name, &names.messages) { "\($0.filter { $0 != "`" })_\($1)" }
    }

    /// What the compiler names where the values of a requirement are not `Sendable`: the requirement, with its types.
    mutating func valuesName(_ requirement: String, _ types: String) -> String? {
      // An implicit conformance does not go through the type parameters of a face.
      if !face.parameters.isEmpty || isSendable(types) { return nil }
      let text = requirement.filter { $0 != "`" && $0 != "\\" }.split(
        whereSeparator: \.isWhitespace)
      return
        "`\(unused("values of \(text.joined(separator: " "))", &names.values) { "\($0) (\($1))" })`"
    }

    private func isSendable(_ types: String) -> Bool {
      let words = types.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      return !types.contains("->") && words.allSatisfy { Self.sendable.contains(String($0)) }
    }

    /// Whether a parameter can be copied, as far as its type says: it has no `borrowing`, or is one of
    /// the standard library's, or one of these type parameters.
    func isCopied(_ type: TypeSyntax, _ parameters: [String]) -> Bool {
      guard let lent = type.as(AttributedTypeSyntax.self) else { return true }
      return !lent.specifiers.contains { $0.trimmedDescription == "borrowing" }
        || parameters.contains(lent.baseType.trimmedDescription)
        || !lent.trimmedDescription.contains("~") && isSendable(lent.baseType.trimmedDescription)
    }

    /// Words of types that are `Sendable` in any case.
    private static let sendable: Set = [
      "Swift", "Void", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16",
      "UInt32",
      "UInt64", "Float", "Double", "Bool", "String", "Substring", "Character", "Duration", "Array",
      "Dictionary", "Set", "Optional", "Result", "any", "Error", "Sendable",
    ]

    /// A name that no other requirement has.
    private func unused(
      _ name: String, _ used: inout Set<String>, _ numbered: (String, Int) -> String
    ) -> String {
      var (unused, number) = (name, 1)
      while !used.insert(unused).inserted {
        number += 1
        unused = numbered(name, number)
      }
      return unused
    }

    /// The statement that registers the objects of a class for a message.
    func answer(
      _ constant: MessageConstant, _ parameters: [Parameter], _ answer: Answer, _ result: String,
      isMutating: Bool, call: ([String]) -> String
    ) -> String {
      let isAsync = answer.isAsync
      // The only argument of an awaited call is not in a tuple.
      let values = parameters.indices.map { index in
        !isAsync
          ? "__value\(index)"
          : parameters.count == 1 ? "__call.values" : "__call.values.\(index)"
      }
      let object = isAsync ? "__call.object" : "__object"
      var body = "\(answer.marks)\(object)\(call(values))"
      if isMutating, isAsync {
        body = "var __object = __call.object; return \(answer.marks)__object\(call(values))"
      } else if isMutating {
        body =
          "\(answer.marks)\(Spelling.forwarding)FaceMessage.changing(\(object)) { "
          + "(__object: inout __Object) in \(answer.marks)__object\(call(values)) }"
      }
      for (index, parameter) in parameters.enumerated() {
        guard let variable = parameter.variable else { continue }
        body =
          "try __value\(index).change { (__value\(index): inout \(variable)) in \(body) }"
      }
      if answer.isOptional {
        body =
          "try \(isAsync ? "await " : "")\(Spelling.invocations)OptionalRequirement."
          + "run\(isAsync ? "Awaiting" : "")(\"\(constant.selector)\", of: \(object)) { \(body) }"
      }
      let made: String
      if isAsync {
        let types = (["__Object"] + parameters.map(\.type)).joined(separator: ", ")
        made =
          "(\(isOfActors ? "crossing" : "awaiting"): { (__call: "
          + "\(Spelling.invocations)FaceCall<\(types)>) async throws -> \(result) in \(body) })"
      } else {
        let taken =
          ["__object: __Object"] + parameters.enumerated().map { "__value\($0): \($1.taken)" }
        made = " { (\(taken.joined(separator: ", "))) -> \(result) in \(body) }"
      }
      return
        "__methods.answer(\(answer.isOptional ? "optional: " : "")\(constant.name), "
        + "unsafe \(Spelling.invocations)FaceBody\(made))"
    }

    // MARK: Refusing

    mutating func refuse(_ refusal: Refusal, at node: some SyntaxProtocol) {
      diagnostics.append(Diagnostic(node: node, message: refusal))
    }

    mutating func refuse(
      _ refusal: Refusal, at node: some SyntaxProtocol, _ remedy: String, _ change: FixIt.Change
    ) {
      diagnostics.append(
        Diagnostic(
          node: node, message: refusal,
          fixIts: [FixIt(message: Remedy(message: remedy), changes: [change])]))
    }

    func replacing(_ node: some SyntaxProtocol, _ text: String) -> FixIt.Change {
      let token = TokenSyntax.identifier(text).with(\.leadingTrivia, node.leadingTrivia)
        .with(\.trailingTrivia, node.trailingTrivia)
      return .replace(oldNode: Syntax(node), newNode: Syntax(token))
    }
  }

  extension TypeSyntax {
    /// The name without its modules and generic arguments.
    var bareName: String {
      let name = String(trimmedDescription.prefix { $0 != "<" }).replacing("::", with: ".")
      return name.split(separator: ".").last.map(String.init) ?? name
    }

    /// Whether the type mentions `Self`, which has a diagnostic of its own.
    var namesSelf: Bool {
      tokens(viewMode: .sourceAccurate).contains { $0.tokenKind == .keyword(.Self) }
    }

    var isVoid: Bool {
      ["Void", "()", "Swift.Void", "Swift::Void"].contains(trimmedDescription)
    }

    var isOptional: Bool {
      self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
        || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }
  }
#endif
