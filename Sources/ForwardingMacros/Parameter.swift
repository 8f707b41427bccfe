// SPDX-License-Identifier: Apache-2.0
import SwiftParser
import SwiftSyntax

/// A parameter of a method or a subscript, or the new value of a setter.
struct Parameter {
  /// The label as written, or `_`.
  let label: String
  /// The name inside the function.
  let name: String
  /// The type of the argument in a message.
  let type: String
  /// The type as that of a closure's parameter.
  let taken: String
  /// The type of the variable if the parameter is `inout`.
  var variable: String?
  /// The source of the value: the name, a call of an autoclosure, or a pack.
  let value: String
  /// The name of the `_SentArgument` that has the value of a `sending` parameter.
  var sent: String?
  /// Whether it is an autoclosure that throws.
  var throwsLate = false
  /// The whole declaration of the parameter, of a value that can be copied.
  var declaration = ""
  /// The declaration if no message has the value, whose type may be one that cannot be copied.
  var lent = ""
  /// Why no message has it.
  var isNoMessage: String?
  /// Whether an escaping closure may capture the value.
  var escapes = true

  /// The label without backticks, or an empty string for `_`.
  var bareLabel: String { label == "_" ? "" : label.replacing("`", with: "").inOneWord }

  /// The value in a closure, which takes a `sending` one from its place.
  var sentValue: String { sent.map { "\($0).take()" } ?? value }

  /// The argument that passes a value.
  func passing(_ value: String) -> String {
    // Nearly all keywords need no backticks, and the compiler warns of them.
    let isEscaped = label == "`inout`" || label.contains { $0 != "`" && !$0.isInName }
    return (label == "_" ? "" : "\(isEscaped ? label : bareLabel): ") + (variable == nil ? "" : "&")
      + value
  }
}

extension ProtocolReader {
  func readParameters(of requirement: Requirement) -> [Parameter] {
    requirement.parameters.enumerated().map { read($0.element, number: $0.offset, of: requirement) }
  }

  private func read(
    _ parameter: FunctionParameterSyntax, number: Int, of requirement: Requirement
  ) -> Parameter {
    let (isList, label) = (requirement.kind == .list, requirement.labels[number])
    let second = parameter.secondName ?? parameter.firstName
    // A keyword cannot be the name of the variable, and with backticks it may have another meaning. A
    // setter has a value of its own, `newValue`, and a proxy has names with underscores.
    let isTaken =
      !second.bare.isValidSwiftIdentifier(for: .variableName) || second.bare.hasPrefix("__")
      || isList && second.bare == "newValue"
    let name = isTaken ? "__value\(number)" : second.text

    let (base, attributes) = (parameter.type.base, parameter.type.attributes)
    let specifiers = parameter.type.specifiers
    let isDelayed = attributes.contains("@autoclosure")
    let isEscaping = attributes.contains("@escaping")
    let effects = function(base)?.effectSpecifiers
    let marks =
      (effects?.throwsClause == nil ? "" : "try ")
      + (effects?.asyncSpecifier == nil ? "" : "await ")
    // Only a parameter may have the others.
    let kept = attributes.filter { !["@escaping", "@autoclosure"].contains($0) }
    let type = kept.map { $0 + " " }.joined() + plain(base)
    let variable = specifiers.contains("inout") ? type : nil
    let held = variable.map { "\(Spelling.invocations)InoutVariable<\($0)>" } ?? type
    let isPack = parameter.type.is(PackExpansionTypeSyntax.self)
    let names = label == name && !isList ? label : "\(label) \(name)"
    // A proxy passes a value on to several targets, so it is not consumed. The closures of a proxy have
    // copies of a borrowed one, if it has any.
    let kinds = ["consuming"] + (isCopied(base, in: requirement) ? ["borrowing"] : [])
    return Parameter(
      label: label, name: name, type: held, taken: isEscaping ? "@escaping \(held)" : held,
      variable: variable,
      value: isDelayed ? "\(marks)\(name)()" : isPack ? "repeat each \(name)" : name,
      sent: specifiers.contains("sending") ? "__sent\(number)" : nil,
      throwsLate: isDelayed && effects?.throwsClause != nil,
      declaration: "\(names): \(parameter.type.without(["consuming", "borrowing"]))",
      lent: "\(names): \(parameter.type.without(kinds))",
      isNoMessage: requirement.isAsync && variable != nil
        ? "an 'inout' argument cannot be kept across 'await'" : obstacle(parameter.type),
      escapes: specifiers.isEmpty && !isDelayed)
  }

  /// The reason why no message can have an argument of a type; nil if one can.
  private func obstacle(_ type: TypeSyntax) -> String? {
    if type.attributes.contains("@autoclosure") { return "an argument is an autoclosure" }
    if function(type.base) != nil, !type.attributes.contains("@escaping") {
      return "a closure is not '@escaping'"
    }
    if type.hasToken({ $0.tokenKind == .keyword(.some) }) { return "an argument is of 'some' type" }
    if type.base.isLent { return "an argument is a span, which is valid during the call only" }
    if type.specifiers.contains("sending") { return "an argument is 'sending'" }
    return type.specifiers.contains("isolated") ? "an argument is 'isolated'" : nil
  }

  /// Whether a type can be copied, as far as its name says: it is one of the standard library's, or a type
  /// parameter.
  private func isCopied(_ type: TypeSyntax, in requirement: Requirement) -> Bool {
    let name = type.trimmedDescription
    let generics = requirement.generics?.trimmedDescription ?? ""
    let bounds = generics + (requirement.clause?.trimmedDescription ?? "")
    return requirement.typeParameters.contains(name) && !bounds.contains("~")
      || !name.contains("~") && Names.areSendable(name)
  }

  /// The type behind a type alias of the protocol.
  func alias(_ name: String) -> TypeSyntax? {
    declaration.members(TypeAliasDeclSyntax.self).first { $0.name.text == name }?.initializer.value
  }

  /// The function type that a type is, or that is behind a type alias of the protocol.
  func function(_ type: TypeSyntax) -> FunctionTypeSyntax? {
    type.function ?? type.as(IdentifierTypeSyntax.self).flatMap { alias($0.name.text)?.function }
  }

  /// A type without the implicit unwrapping that only a declaration may have.
  private func plain(_ type: TypeSyntax) -> String {
    if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      return optional.wrappedType.trimmedDescription.withoutSelf + "?"
    }
    return type.trimmedDescription.withoutSelf
  }

  func resultType(_ type: TypeSyntax?) -> String {
    guard let type, !type.isVoid else { return Spelling.void }
    return plain(type)
  }
}

extension TypeSyntax {
  private var attributed: AttributedTypeSyntax? { self.as(AttributedTypeSyntax.self) }

  /// The words in front of a type, such as `inout`.
  var specifiers: [String] { attributed?.specifiers.map(\.trimmedDescription) ?? [] }

  var attributes: [String] { attributed?.attributes.map(\.trimmedDescription) ?? [] }

  /// The type behind its words and attributes.
  fileprivate var base: TypeSyntax { attributed?.baseType ?? self }

  /// The type without these words in front of it.
  fileprivate func without(_ words: [String]) -> String {
    guard var attributed else { return trimmedDescription }
    attributed.specifiers = attributed.specifiers.filter { !words.contains($0.trimmedDescription) }
    return attributed.trimmedDescription
  }

  /// The function type behind parentheses and attributes; nil for any other type.
  var function: FunctionTypeSyntax? {
    if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.function }
    if let tuple = self.as(TupleTypeSyntax.self) {
      return tuple.elements.count == 1 ? tuple.elements.first?.type.function : nil
    }
    return self.as(FunctionTypeSyntax.self)
  }

  /// Whether the type is one of the standard library's non-escapable span types. A `Span` without
  /// type arguments is a type of the program, as those of tracers are.
  fileprivate var isLent: Bool {
    guard let type = self.as(IdentifierTypeSyntax.self) else { return false }
    let generic = ["Span", "MutableSpan", "OutputSpan"]
    return type.genericArgumentClause == nil
      ? ["RawSpan", "MutableRawSpan", "OutputRawSpan", "UTF8Span"].contains(type.name.text)
      : generic.contains(type.name.text)
  }

  /// The name without its modules and generic arguments.
  var bareName: String {
    let name = String(trimmedDescription.prefix { $0 != "<" }).replacing("::", with: ".")
    return name.split(separator: ".").last.map(String.init) ?? name
  }

  /// Whether the type mentions `Self`, which has a diagnostic of its own.
  var namesSelf: Bool { hasToken { $0.tokenKind == .keyword(.Self) } }

  var isVoid: Bool { ["Void", "()", "Swift.Void", "Swift::Void"].contains(trimmedDescription) }

  var isOptional: Bool {
    self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
      || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
  }
}

extension SyntaxProtocol {
  func hasToken(_ isFound: (TokenSyntax) -> Bool) -> Bool {
    tokens(viewMode: .sourceAccurate).contains(where: isFound)
  }
}
