// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax

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
    /// The closure that makes one of two answers, as source; nil if the last answer wins.
    var combine: String?
    /// The error in place of the value, as source.
    var failure: String?
    /// Whether the protocol says either.
    var hasOtherwise = false
    /// Whether the requirement may be left out.
    var isOptional = false

    /// Whether the requirement can throw any error at all.
    var `throws`: Bool { if case .nothing = throwing { false } else { true } }

    /// The type of its errors in parentheses, or as a name; nil if it throws none.
    var thrown: String? {
      switch throwing {
      case .nothing: nil
      case .anything: "(\(Spelling.anyError))"
      case .only(let type): type
      }
    }

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
  }

  extension ProtocolReader {
    /// Reads the effects of a requirement, and its result when no target answers. Diagnoses a
    /// missing default value, and misplaced markers.
    mutating func answer(_ requirement: Requirement) -> Answer {
      let result = requirement.result
      var answer = Answer(isVoid: result?.isVoid ?? true)
      answer.isAsync = requirement.isAsync
      let thrown = requirement.thrown
      switch thrown.map({ $0.type?.trimmedDescription ?? "any Error" }) {
      case _ where thrown?.throwsSpecifier.text == "rethrows": answer.passesErrors = true
      case "any Error", "any Swift.Error", "Error", "Swift.Error": answer.throwing = .anything
      case let type? where type != "Never": answer.throwing = .only(type.withoutSelf)
      default: break
      }
      for name in ["Otherwise", "Optional"] {
        if let second = requirement.attributes(name).dropFirst().first {
          refuse(.twice, name, subject, at: second)
        }
      }
      if let option = requirement.attributes("Optional").first {
        answer.isOptional = true
        if foreign != nil { refuse(.foreignOptional, subject, at: option) }
      }
      if let marker = requirement.attributes("Otherwise").first, let value = marker.firstArgument {
        read(value, of: marker, requirement, into: &answer)
      } else if result?.isOptional ?? false {
        answer.otherwise = "nil"
      }
      if answer.needsOtherwise, let result, !result.namesSelf {
        if isOfAnyType(requirement) {
          refuse(.answerOfAnyType, result.trimmedDescription, subject, at: requirement.name)
        } else {
          refuse(
            answer.throws ? .noAnswerOrError : .noAnswer, subject, at: requirement.name,
            "add '@Otherwise'",
            replacing(requirement.keyword, "@Otherwise(<#value#>) \(requirement.keyword.text)"))
        }
      }
      return answer
    }

    /// Reads the argument of `@Otherwise`.
    private mutating func read(
      _ value: LabeledExprSyntax, of marker: AttributeSyntax, _ requirement: Requirement,
      into answer: inout Answer
    ) {
      let text = value.expression.trimmedDescription
      if value.label?.text == "throw" { answer.failure = text } else { answer.otherwise = text }
      answer.hasOtherwise = true
      if answer.isVoid, answer.failure == nil || !answer.throws {
        refuse(.answerToNothing, subject, at: marker)
      }
      if answer.failure != nil, !answer.isVoid, !answer.throws {
        refuse(.throwsNothing, subject, at: value.expression)
      }
      if let combine = marker.argument("combine") {
        answer.combine = combine.expression.trimmedDescription
        if answer.failure != nil || requirement.isStatic {
          refuse(.nothingToCombine, subject, at: combine)
        }
      }
      if text.hasPrefix("<#") { refuse(.placeholder, subject, at: value.expression) }
      if let result = requirement.result, answer.failure == nil, isOfAnyType(requirement),
        !text.hasPrefix("fatalError(")
      {
        refuse(.answerOfAnyType, result.trimmedDescription, subject, at: value.expression)
      }
    }

    /// Whether a result is of an associated type, or a type parameter, that says nothing about its values.
    private func isOfAnyType(_ requirement: Requirement) -> Bool {
      let name = requirement.result?.trimmedDescription.withoutSelf
      return associatedTypes.contains {
        $0.name.text == name && $0.inheritanceClause == nil && $0.genericWhereClause == nil
      }
        || requirement.generics?.parameters.contains {
          $0.name.text == name && $0.inheritedType == nil
        } == true
    }
  }

  extension AttributeSyntax {
    var firstArgument: LabeledExprSyntax? {
      guard case .argumentList(let list)? = arguments else { return nil }
      return list.first
    }

    func argument(_ label: String) -> LabeledExprSyntax? {
      guard case .argumentList(let list)? = arguments else { return nil }
      return list.first { $0.label?.text == label }
    }
  }
#endif
