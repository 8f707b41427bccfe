// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax

  // Reads the parameters of methods and subscripts.
  extension ProtocolReader {
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
      /// Whether the parameter is an autoclosure.
      var isDelayed = false
      /// Whether the parameter is a parameter pack.
      var isPack = false
      /// The name of the `SentArgument` that has the value of a `sending` parameter.
      var sent: String?
      /// Whether the autoclosure throws.
      var delayedThrows = false
      /// Whether the autoclosure is awaited.
      var delayedAwaits = false
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
      var bareLabel: String {
        label == "_" ? "" : label.replacing("`", with: "").inOneWord
      }
      /// The label at a call, where nearly all keywords need no backticks.
      var labelInCalls: String {
        label == "`inout`" || label.contains(where: { $0 != "`" && !$0.isInName })
          ? label : bareLabel
      }
      /// The argument that passes this parameter on.
      var passed: String { passing(sent.map { "\($0).take()" } ?? own) }
      /// The argument that passes the parameter on where the call is no closure.
      var passedAtOnce: String { passing(own) }
      private var own: String {
        if isDelayed {
          return "\(delayedThrows ? "try " : "")\(delayedAwaits ? "await " : "")\(name)()"
        }
        return isPack ? "repeat each \(name)" : name
      }
      /// The argument that passes a value of another name.
      func passing(_ value: String) -> String {
        (label == "_" ? "" : "\(labelInCalls): ") + (variable == nil ? "" : "&") + value
      }
    }

    mutating func read(
      _ parameter: FunctionParameterSyntax, number: Int, isAsync: Bool, isSubscript: Bool = false,
      copied: [String] = []
    ) -> Parameter {
      let first = parameter.firstName
      let second = parameter.secondName ?? first
      // A parameter of a subscript has a label only if it is written with two names.
      let label = isSubscript && parameter.secondName == nil ? "_" : first.text
      var name = second.text
      // A keyword cannot be the name of the variable, and with backticks it may have another
      // meaning. A setter has a value of its own, `newValue`, and a face has names with underscores.
      if Self.words.contains(second.bare) || isSubscript && second.bare == "newValue"
        || second.bare.hasPrefix("__")
      {
        name = "__value\(number)"
      }
      check(parameter.type)
      var type = valueType(parameter.type)
      if let dots = parameter.ellipsis {
        refuse(.variadic(subject), at: dots)
        type.text = "[\(type.text)]"
      }
      let attributed = parameter.type.as(AttributedTypeSyntax.self)
      let specifiers = attributed?.specifiers.map(\.trimmedDescription) ?? []
      let variable = specifiers.contains("inout") ? type.text : nil
      let held = variable.map { "\(Spelling.invocations)InoutVariable<\($0)>" } ?? type.text
      let escapes = type.attributes.contains("escaping")
      let dots = parameter.ellipsis?.text ?? ""
      let names = label == name && !isSubscript ? label : "\(label) \(name)"
      var reason = type.isNoMessage
      if isAsync, variable != nil {
        reason = "a target that is awaited would have the variable for long"
      }
      return Parameter(
        label: label, name: name, type: held, taken: escapes ? "@escaping \(held)" : held,
        variable: variable, isDelayed: type.attributes.contains("autoclosure"),
        isPack: parameter.type.is(PackExpansionTypeSyntax.self),
        sent: specifiers.contains("sending") ? "__sent\(number)" : nil, delayedThrows: type.throws,
        delayedAwaits: type.awaits,
        declaration: "\(names): \(parameter.type.copied.trimmedDescription)\(dots)",
        lent: isCopied(parameter.type, copied)
          ? "" : "\(names): \(parameter.type.notConsumed.trimmedDescription)\(dots)",
        typed: "\(label): \(parameter.type.trimmedDescription)", isNoMessage: reason,
        escapes: specifiers.isEmpty && !type.attributes.contains("autoclosure"))
    }

    /// The parameters of a requirement. Only what a message has is known to be copied.
    func declared(_ parameters: [Parameter], isMessage: Bool) -> String {
      parameters.map { isMessage || $0.lent.isEmpty ? $0.declaration : $0.lent }
        .joined(separator: ", ")
    }

    /// The types of a requirement, behind its name.
    func signed(_ parameters: [Parameter], _ result: TypeSyntax?) -> String {
      "(\(parameters.map(\.typed).joined(separator: ", ")))"
        + (result.map { " -> \($0.trimmedDescription)" } ?? "")
    }

    /// The words of the language that may be labels, and are no names.
    private static let words: Set = [
      "_", "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class",
      "continue",
      "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
      "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal",
      "is",
      "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat",
      "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
      "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// The type of an argument, as read from its parameter.
    private struct ValueType {
      /// The type without the attributes that only a parameter may have.
      var text: String
      /// The names of its attributes.
      var attributes: [String]
      /// Whether the type is a function that throws.
      var `throws`: Bool
      /// Whether it is `async`.
      var awaits: Bool
      /// The reason why no message can have this argument; nil if one can.
      var isNoMessage: String?
    }

    private func valueType(_ type: TypeSyntax) -> ValueType {
      var base = type
      var attributes: [AttributeSyntax] = []
      var reason: String?
      if let attributed = type.as(AttributedTypeSyntax.self) {
        base = attributed.baseType
        attributes = attributed.attributes.compactMap { $0.as(AttributeSyntax.self) }
        for specifier in attributed.specifiers {
          if specifier.trimmedDescription == "isolated" { reason = "an argument is isolated" }
          if specifier.trimmedDescription == "sending" { reason = "an argument is 'sending'" }
        }
      }
      let names = attributes.map(\.attributeName.trimmedDescription)
      let function = base.function ?? aliasedFunction(base)
      if names.contains("autoclosure") {
        reason = "an argument is an autoclosure"
      } else if function != nil, !names.contains("escaping") {
        reason = "a closure does not escape"
      } else if type.tokens(viewMode: .sourceAccurate).contains(where: {
        $0.tokenKind == .keyword(.some)
      }) {
        reason = "an argument is of 'some' type"
      } else if base.isLent {
        reason = "an argument is lent"
      }
      let kept = attributes.filter {
        !["escaping", "autoclosure"].contains($0.attributeName.trimmedDescription)
      }
      return ValueType(
        text: kept.map { $0.trimmedDescription + " " }.joined() + plain(base), attributes: names,
        throws: function?.effectSpecifiers?.throwsClause != nil,
        awaits: function?.effectSpecifiers?.asyncSpecifier != nil, isNoMessage: reason)
    }

    /// The function type behind a type alias of the protocol.
    func aliasedFunction(_ type: TypeSyntax) -> FunctionTypeSyntax? {
      guard let name = type.as(IdentifierTypeSyntax.self)?.name.text else { return nil }
      return alias(name)?.function
    }

    /// A type without the implicit unwrapping that only a declaration may have.
    func plain(_ type: TypeSyntax) -> String {
      if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return optional.wrappedType.trimmedDescription.withoutSelf + "?"
      }
      return type.trimmedDescription.withoutSelf
    }

    func resultType(_ type: TypeSyntax?) -> String {
      guard let type else { return Spelling.void }
      return type.isVoid ? Spelling.void : plain(type)
    }
  }

  extension [ProtocolReader.Parameter] {
    /// The reason of the first parameter that no message can have, or nil.
    var firstReason: String? { lazy.compactMap(\.isNoMessage).first }

    /// The statements that take the `sending` arguments from the sender.
    var sent: [String] {
      compactMap { parameter in
        parameter.sent.map { "let \($0) = \(Spelling.forwarding)SentArgument(\(parameter.name))" }
      }
    }
  }

  extension TypeSyntax {
    /// The type of a parameter without `consuming`: a face passes the value on to several targets.
    fileprivate var notConsumed: TypeSyntax { without("consuming") }

    /// The same without `borrowing`: the closures of a face have copies of the value.
    fileprivate var copied: TypeSyntax { notConsumed.without("borrowing") }

    private func without(_ word: String) -> TypeSyntax {
      // A type that is refused, as it cannot be copied, needs the word.
      guard var attributed = self.as(AttributedTypeSyntax.self), !trimmedDescription.contains("~")
      else { return self }
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
  }
#endif
