// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax

  /// A parameter of a method or a subscript, or the new value of a setter.
  struct Parameter {
    /// The label as written, or `_`.
    var label: String
    /// The name inside the function.
    var name: String
    /// The type of the argument in a message.
    var type: String
    /// The type as that of a closure's parameter.
    var taken: String
    /// The type of the variable if the parameter is `inout`.
    var variable: String?
    /// The source of the value, if it is not the name: a call of an autoclosure, or a pack.
    var source: String?
    /// The name of the `_SentArgument` that has the value of a `sending` parameter.
    var sent: String?
    /// Whether it is an autoclosure that throws.
    var throwsLate = false
    /// The whole declaration of the parameter, of a value that can be copied.
    var declaration: String
    /// The declaration, if the type may be one that cannot be copied.
    var lent = ""
    /// The label, with the type.
    var typed = ""
    /// Why no message has it.
    var isNoMessage: String?
    /// Whether an escaping closure may capture the value.
    var escapes = true

    /// The label without backticks, or an empty string for `_`.
    var bareLabel: String { label == "_" ? "" : label.replacing("`", with: "").inOneWord }

    /// The label at a call, where nearly all keywords need no backticks.
    private var labelInCalls: String {
      label == "`inout`" || label.contains(where: { $0 != "`" && !$0.isInName })
        ? label : bareLabel
    }

    /// The source of the value.
    var value: String { source ?? name }

    /// The same in a closure, which takes a `sending` value from its place.
    var sentValue: String { sent.map { "\($0).take()" } ?? value }

    /// The argument that passes a value.
    func passing(_ value: String) -> String {
      (label == "_" ? "" : "\(labelInCalls): ") + (variable == nil ? "" : "&") + value
    }
  }

  extension ProtocolReader {
    mutating func readParameters(of requirement: Requirement) -> [Parameter] {
      requirement.parameters.enumerated().map {
        read($0.element, number: $0.offset, of: requirement)
      }
    }

    private mutating func read(
      _ parameter: FunctionParameterSyntax, number: Int, of requirement: Requirement
    ) -> Parameter {
      let isList = requirement.kind == .list
      let second = parameter.secondName ?? parameter.firstName
      // A parameter of a subscript has a label only if it is written with two names.
      let label = isList && parameter.secondName == nil ? "_" : parameter.firstName.text
      // A keyword cannot be the name of the variable, and with backticks it may have another meaning. A
      // setter has a value of its own, `newValue`, and a proxy has names with underscores.
      let isTaken =
        Self.words.contains(second.bare) || second.bare.hasPrefix("__")
        || isList && second.bare == "newValue"
      let name = isTaken ? "__value\(number)" : second.text
      check(parameter.type)
      if let dots = parameter.ellipsis { refuse(.variadic, subject, at: dots) }
      let type = ValueType(parameter.type, in: self)
      let specifiers = parameter.type.as(AttributedTypeSyntax.self)?.specifiers.map(
        \.trimmedDescription)
      let variable = specifiers?.contains("inout") == true ? type.text : nil
      let held = variable.map { "\(Spelling.invocations)InoutVariable<\($0)>" } ?? type.text
      let isDelayed = type.attributes.contains("autoclosure")
      let isPack = parameter.type.is(PackExpansionTypeSyntax.self)
      let names = label == name && !isList ? label : "\(label) \(name)"
      return Parameter(
        label: label, name: name, type: held,
        taken: type.attributes.contains("escaping") ? "@escaping \(held)" : held,
        variable: variable,
        source: isDelayed ? "\(type.marks)\(name)()" : isPack ? "repeat each \(name)" : nil,
        sent: specifiers?.contains("sending") == true ? "__sent\(number)" : nil,
        throwsLate: isDelayed && type.marks.hasPrefix("try"),
        declaration: "\(names): \(parameter.type.copied.trimmedDescription)",
        lent: isCopied(parameter.type, in: requirement)
          ? "" : "\(names): \(parameter.type.notConsumed.trimmedDescription)",
        typed: "\(label): \(parameter.type.trimmedDescription)",
        isNoMessage: requirement.isAsync && variable != nil
          ? "a target that is awaited would have the variable for long" : type.isNoMessage,
        escapes: specifiers?.isEmpty != false && !isDelayed)
    }

    /// Whether a parameter can be copied, as far as its type says: it has no `borrowing`, or is one of
    /// the standard library's, or a type parameter.
    private func isCopied(_ type: TypeSyntax, in requirement: Requirement) -> Bool {
      guard let lent = type.as(AttributedTypeSyntax.self) else { return true }
      let base = lent.baseType.trimmedDescription
      let generics = requirement.generics?.trimmedDescription ?? ""
      let bounds = generics + (requirement.clause?.trimmedDescription ?? "")
      let isParameter = requirement.generics?.parameters.contains { $0.name.text == base } ?? false
      return !lent.specifiers.contains { $0.trimmedDescription == "borrowing" }
        || isParameter && !bounds.contains("~")
        || !lent.trimmedDescription.contains("~") && Names.areSendable(base)
    }

    /// The words of the language that may be labels, and are no names.
    private static let words = Set(
      """
      _ Any Self as associatedtype await break case catch class continue default defer deinit do else \
      enum extension fallthrough false fileprivate for func guard if import in init inout internal is let \
      nil operator precedencegroup private protocol public repeat rethrows return self static struct \
      subscript super switch throw throws true try typealias var where while
      """.split(separator: " ").map(String.init))

    /// The type of an argument, as read from its parameter.
    private struct ValueType {
      /// The type without the attributes that only a parameter may have.
      let text: String
      /// The names of its attributes.
      let attributes: [String]
      /// The words in front of a call, if it is a function.
      let marks: String
      /// The reason why no message can have this argument; nil if one can.
      private(set) var isNoMessage: String?

      init(_ type: TypeSyntax, in reader: ProtocolReader) {
        let attributed = type.as(AttributedTypeSyntax.self)
        let base = attributed?.baseType ?? type
        let attributes = attributed?.attributes.compactMap { $0.as(AttributeSyntax.self) } ?? []
        let names = attributes.map(\.attributeName.trimmedDescription)
        let function = base.function ?? reader.aliasedFunction(base)
        let kept = zip(attributes, names).filter { !["escaping", "autoclosure"].contains($1) }
        text = kept.map { $0.0.trimmedDescription + " " }.joined() + reader.plain(base)
        self.attributes = names
        let effects = function?.effectSpecifiers
        marks =
          (effects?.throwsClause == nil ? "" : "try ")
          + (effects?.asyncSpecifier == nil ? "" : "await ")
        let specifiers = attributed?.specifiers.map(\.trimmedDescription) ?? []
        if names.contains("autoclosure") {
          isNoMessage = "an argument is an autoclosure"
        } else if function != nil, !names.contains("escaping") {
          isNoMessage = "a closure does not escape"
        } else if type.hasToken({ $0.tokenKind == .keyword(.some) }) {
          isNoMessage = "an argument is of 'some' type"
        } else if base.isLent {
          isNoMessage = "an argument is lent"
        } else if specifiers.contains("sending") {
          isNoMessage = "an argument is 'sending'"
        } else if specifiers.contains("isolated") {
          isNoMessage = "an argument is isolated"
        }
      }
    }

    /// The type behind a type alias of the protocol.
    func alias(_ name: String) -> TypeSyntax? {
      declaration.memberBlock.members.lazy.compactMap { $0.decl.as(TypeAliasDeclSyntax.self) }
        .first { $0.name.text == name }?.initializer.value
    }

    /// The function type behind a type alias of the protocol.
    func aliasedFunction(_ type: TypeSyntax) -> FunctionTypeSyntax? {
      type.as(IdentifierTypeSyntax.self).flatMap { alias($0.name.text)?.function }
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
    /// The type of a parameter without `consuming`: a proxy passes the value on to several targets.
    fileprivate var notConsumed: TypeSyntax { without("consuming") }

    /// The same without `borrowing`: the closures of a proxy have copies of the value.
    fileprivate var copied: TypeSyntax { notConsumed.without("borrowing") }

    private func without(_ word: String) -> TypeSyntax {
      guard var attributed = self.as(AttributedTypeSyntax.self) else { return self }
      attributed.specifiers = attributed.specifiers.filter { $0.trimmedDescription != word }
      return TypeSyntax(attributed)
    }

    /// The function type behind parentheses and attributes; nil for any other type.
    var function: FunctionTypeSyntax? {
      if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.function }
      if let tuple = self.as(TupleTypeSyntax.self) {
        return tuple.elements.count == 1 ? tuple.elements.first?.type.function : nil
      }
      return self.as(FunctionTypeSyntax.self)
    }

    /// Whether the type is a function that does not escape.
    var isLentClosure: Bool {
      let attributes = self.as(AttributedTypeSyntax.self)?.attributes
      return function != nil
        && attributes?.contains { $0.trimmedDescription == "@escaping" } != true
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

    func hasToken(_ isFound: (TokenSyntax) -> Bool) -> Bool {
      tokens(viewMode: .sourceAccurate).contains(where: isFound)
    }

    /// The name without its modules and generic arguments.
    var bareName: String {
      let name = String(trimmedDescription.prefix { $0 != "<" }).replacing("::", with: ".")
      return name.split(separator: ".").last.map(String.init) ?? name
    }

    /// Whether the type mentions `Self`, which has a diagnostic of its own.
    var namesSelf: Bool { hasToken { $0.tokenKind == .keyword(.Self) } }

    var isVoid: Bool {
      ["Void", "()", "Swift.Void", "Swift::Void"].contains(trimmedDescription)
    }

    var isOptional: Bool {
      self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
        || self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }
  }
#endif
