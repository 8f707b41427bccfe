// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// The effects of a requirement, and its result when no target answers.
struct Answer {
  /// The type of its errors if it may throw any.
  static let anyError = "(\(Spelling.anyError))"

  var isVoid: Bool
  var isAsync = false
  /// Whether the requirement is `rethrows`: it throws the errors of its closure arguments.
  var passesErrors = false
  /// The type of its errors in parentheses, or as a name; nil if it throws none.
  var thrown: String?
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

  /// Whether the requirement can throw any error of the delivery.
  var throwsAny: Bool { thrown == Self.anyError && !passesErrors }

  /// The case of `ProxyThrowing`; nil if the requirement throws nothing.
  var throwing: String? { throwsAny ? "any" : thrown != nil || passesErrors ? "some" : nil }

  /// The `try` and `await` in front of a call.
  var marks: String { (thrown != nil || passesErrors ? "try " : "") + (isAsync ? "await " : "") }

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
    case "any Error", "any Swift.Error", "Error", "Swift.Error": answer.thrown = Answer.anyError
    case let type? where type != "Never": answer.thrown = type.withoutSelf
    default: break
    }
    if answer.passesErrors, answer.isAsync, let thrown {
      refuse(.awaitedRethrows, subject, at: thrown)
    }
    for name in ["Otherwise", "Optional"] {
      if let second = requirement.attributes(name).dropFirst().first {
        refuse(.twice, name, subject, at: second)
      }
    }
    if requirement.has("optional") || !requirement.attributes("optional").isEmpty {
      refuse(.optionalWord, subject, at: requirement.name)
    }
    if let option = requirement.attributes("Optional").first {
      answer.isOptional = true
      if foreign != nil { refuse(.foreignOptional, subject, at: option) }
    }
    if let marker = requirement.attributes("Otherwise").first, let value = marker.values.first {
      read(value, of: marker, requirement, into: &answer)
    } else if result?.isOptional ?? false {
      answer.otherwise = "nil"
    } else if let result, !answer.isVoid, !answer.throwsAny, !result.namesSelf {
      if isOfAnyType(requirement) {
        refuse(.answerOfAnyType, result.trimmedDescription, subject, at: requirement.name)
      } else {
        refuse(answer.thrown == nil ? .noAnswer : .noAnswerOrError, subject, at: requirement.name)
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
    let isThrown = value.label?.text == "throw"
    answer.hasOtherwise = true
    if isThrown { answer.failure = text } else { answer.otherwise = text }
    if answer.isVoid, !isThrown || answer.thrown == nil {
      refuse(.answerToNothing, subject, at: marker)
    } else if isThrown, answer.thrown == nil {
      refuse(.throwsNothing, subject, at: value.expression)
    }
    if let type = requirement.result?.trimmedDescription, !isThrown,
      value.expression.isLiteral(ofOtherTypeThan: type)
    {
      refuse(.answerOfOtherType, subject, text, type, at: value.expression)
    }
    // `forward proxy` leaves a place for each value.
    if text.hasPrefix("<#") { refuse(.placeholder, subject, at: value.expression) }
    if let result = requirement.result, !isThrown, isOfAnyType(requirement),
      !text.hasPrefix("fatalError(")
    {
      refuse(.answerOfAnyType, result.trimmedDescription, subject, at: value.expression)
    }
    if let combine = marker.values.dropFirst().first {
      answer.combine = combine.expression.trimmedDescription
      if isThrown || requirement.isStatic { refuse(.nothingToCombine, subject, at: combine) }
    }
  }

  /// Whether a result is of an associated type, or a type parameter, that says nothing about its values.
  private func isOfAnyType(_ requirement: Requirement) -> Bool {
    let bare =
      associatedTypes.filter { $0.inheritanceClause == nil && $0.genericWhereClause == nil }
      .map(\.name.text)
      + (requirement.generics?.parameters.filter { $0.inheritedType == nil }.map(\.name.text) ?? [])
    return requirement.result.map { bare.contains($0.trimmedDescription.withoutSelf) } ?? false
  }
}

extension AttributeSyntax {
  /// The arguments, each with its label.
  var values: [LabeledExprSyntax] {
    guard case .argumentList(let list)? = arguments else { return [] }
    return Array(list)
  }
}

extension ExprSyntax {
  /// The types with names that every program knows, by their literals.
  private static let types: [SyntaxKind: Set<String>] = [
    .booleanLiteralExpr: ["Bool"],
    .stringLiteralExpr: ["String", "Substring", "Character"],
    .integerLiteralExpr: ["Int", "UInt", "Double", "Float"],
    .floatLiteralExpr: ["Double", "Float"],
    .nilLiteralExpr: [],
  ]

  /// Whether the expression is a literal that another one of these types has.
  fileprivate func isLiteral(ofOtherTypeThan type: String) -> Bool {
    guard let own = Self.types[kind] else { return false }
    return !own.contains(type) && Self.types.values.contains { $0.contains(type) }
  }
}
