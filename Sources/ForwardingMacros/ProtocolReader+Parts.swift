#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax

  // What methods and properties have in common.
  extension ProtocolReader {
    mutating func checkModifiers(_ modifiers: DeclModifierListSyntax) {
      for modifier in modifiers where ["static", "class"].contains(modifier.name.text) {
        refuse(.staticMember, at: modifier.name)
      }
    }

    func isOptional(_ attributes: AttributeListSyntax) -> Bool {
      attributes.contains {
        $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == "Optional"
      }
    }

    /// Refuses what no message has among its types.
    mutating func check(_ type: TypeSyntax) {
      for specifier in type.as(AttributedTypeSyntax.self)?.specifiers ?? []
      where specifier.trimmedDescription == "sending" {
        refuse(.sending, at: specifier)
      }
      for token in type.tokens(viewMode: .sourceAccurate) {
        switch token.tokenKind {
        case .keyword(.Self): refuse(.selfType, at: token)
        case .keyword(.some): refuse(.opaque, at: token, "write 'any'", replacing(token, "any"))
        default: break
        }
      }
    }

    /// The comment of a member, as lines.
    func comment(of member: some SyntaxProtocol) -> String {
      member.leadingTrivia.compactMap { piece -> String? in
        switch piece {
        case .docLineComment(let text), .docBlockComment(let text): "  \(text)\n"
        default: nil
        }
      }.joined()
    }

    /// The comment, attributes and modifiers of a member.
    func front(
      _ attributes: AttributeListSyntax, _ modifiers: DeclModifierListSyntax,
      _ member: some SyntaxProtocol, _ access: String
    ) -> String {
      let kept = attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
        !["Otherwise", "Optional"].contains($0.attributeName.trimmedDescription)
      }
      let words = kept.map(\.trimmedDescription) + modifiers.map(\.trimmedDescription)
      return comment(of: member) + "  " + words.map { $0 + " " }.joined() + access
    }

    /// What the sender gets when nobody answers.
    mutating func answer(
      _ result: TypeSyntax?, _ attributes: AttributeListSyntax, _ thrown: ThrowsClauseSyntax?,
      of keyword: TokenSyntax, name: TokenSyntax
    ) -> Answer {
      var answer = Answer(isVoid: result?.isVoid ?? true)
      switch thrown.map({ $0.type?.trimmedDescription ?? "any Error" }) {
      case "any Error": answer.throwing = .anything
      case let type? where type != "Never": answer.throwing = .only(type)
      default: break
      }
      let values = attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
        $0.attributeName.trimmedDescription == "Otherwise"
      }
      if let second = values.dropFirst().first { refuse(.twoAnswers, at: second) }
      if let value = values.first, answer.isVoid { refuse(.answerToNothing, at: value) }
      if case .argumentList(let list)? = values.first?.arguments, let first = list.first {
        answer.otherwise = first.expression.trimmedDescription
      } else if result?.isOptional ?? false {
        answer.otherwise = "nil"
      }
      if answer.needsOtherwise {
        refuse(
          .noAnswer, at: name, "add '@Otherwise'",
          replacing(keyword, "@Otherwise(<#value#>) \(keyword.text)"))
      }
      return answer
    }

    mutating func messageName(_ words: [String]) -> String {
      let name = "_" + words.filter { !$0.isEmpty }.joined(separator: "_")
      return unused(name, &usedNames) { "\($0)_\($1)" }
    }

    /// What users call a message: all words as one. A name alone keeps its backticks.
    mutating func publicName(_ words: [String], spelled: String) -> String {
      let words = words.filter { !$0.isEmpty }
      let tail = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
      let name = tail.isEmpty ? spelled : words[0] + tail.joined()
      return unused(name, &usedPublicNames) { "\($0.filter { $0 != "`" })_\($1)" }
    }

    /// A name that no other requirement has.
    func unused(
      _ name: String, _ used: inout Set<String>, _ numbered: (String, Int) -> String
    ) -> String {
      var (unused, number) = (name, 1)
      while !used.insert(unused).inserted {
        number += 1
        unused = numbered(name, number)
      }
      return unused
    }

    /// What calls the requirement of a target.
    func body(
      _ parameters: [Parameter], isAsync: Bool, throws isThrowing: Bool, result: String,
      optional selector: String?, name: String
    ) -> String {
      // The only value of a call that is awaited is no tuple.
      let value = { (index: Int) in
        !isAsync ? "value\(index)" : parameters.count == 1 ? "call.values" : "call.values.\(index)"
      }
      let passed = parameters.enumerated().map { index, parameter in
        (parameter.label == "_" ? "" : "\(parameter.labelInCalls): ")
          + (parameter.variable == nil ? "" : "&") + value(index)
      }
      let object = isAsync ? "call.object" : "object"
      let waits = isAsync ? "await " : ""
      var call = "\(object).\(name)(\(passed.joined(separator: ", ")))"
      call = (isThrowing ? "try " : "") + waits + call
      for (index, parameter) in parameters.enumerated() {
        guard let variable = parameter.variable else { continue }
        call = "try value\(index).change { (value\(index): inout \(variable)) in \(call) }"
      }
      if let selector {
        call =
          "try \(waits)OptionalRequirement.run\(isAsync ? "Awaiting" : "")"
          + "(\"\(selector)\", of: \(object)) { \(call) }"
      }
      guard isAsync else {
        let taken = ["object: Object"] + parameters.enumerated().map { "value\($0): \($1.taken)" }
        return
          "unsafe FaceBody { (\(taken.joined(separator: ", "))) -> \(result) in \(call) }"
      }
      let types = (["Object"] + parameters.map(\.type)).joined(separator: ", ")
      return
        "unsafe FaceBody(\(isOfActors ? "crossing" : "awaiting"): { (call: FaceCall<\(types)>) async throws -> \(result) in \(call) })"
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

  extension TokenSyntax {
    /// A name without backticks.
    var bare: String { text.replacing("`", with: "") }
  }

  extension TypeSyntax {
    var isVoid: Bool { ["Void", "()", "Swift.Void"].contains(trimmedDescription) }

    var isOptional: Bool {
      self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
        || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }
  }
#endif
