#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax

  // What methods and subscripts take.
  extension ProtocolReader {
    struct Parameter {
      /// The label as it is written; `_` if there is none.
      var label: String
      /// What the parameter is called inside.
      var name: String
      /// Its type as that of a value.
      var type: String
      /// Its type as that of a closure's parameter.
      var taken: String
      /// The type of the variable, if it is `inout`.
      var variable: String?
      /// Whether its value is what a closure gives that is made of it.
      var isDelayed = false
      /// Whether it is a pack.
      var isPack = false
      /// Whether its closure throws, which it is made of.
      var delayedThrows = false
      /// All of it.
      var declaration: String
      /// Why no message has it.
      var isNoMessage: String?
      /// Whether a closure may keep its value.
      var escapes = true
      /// The label without backticks; empty if there is none.
      var bareLabel: String {
        label == "_" ? "" : label.replacing("`", with: "")
      }
      /// The label in front of a value, where nearly all keywords may stand as they are.
      var labelInCalls: String {
        ["inout", "let", "var"].contains(bareLabel) ? label : bareLabel
      }
      /// What is written where it is passed on.
      var passed: String {
        passing(
          isDelayed
            ? "\(delayedThrows ? "try " : "")\(name)()" : isPack ? "repeat each \(name)" : name)
      }
      /// What is written where a value of another name is passed.
      func passing(_ value: String) -> String {
        (label == "_" ? "" : "\(labelInCalls): ") + (variable == nil ? "" : "&") + value
      }
    }

    mutating func read(
      _ parameter: FunctionParameterSyntax, number: Int, isAsync: Bool, isSubscript: Bool = false
    ) -> Parameter {
      let first = parameter.firstName
      let second = parameter.secondName ?? first
      // The parameters of a subscript have no labels but those that are written twice.
      let label = isSubscript && parameter.secondName == nil ? "_" : first.text
      var name = second.text
      // A word of the language is no name, and in its quotes it may be another one.
      if Self.words.contains(second.bare) { name = "__value\(number)" }
      if let dots = parameter.ellipsis { refuse(.variadic, at: dots) }
      check(parameter.type)
      let type = valueType(parameter.type)
      let attributed = parameter.type.as(AttributedTypeSyntax.self)
      let specifiers = attributed?.specifiers.map(\.trimmedDescription) ?? []
      let variable = specifiers.contains("inout") ? type.text : nil
      let held = variable.map { "\(Spelling.invocations)InoutVariable<\($0)>" } ?? type.text
      let escapes = type.attributes.contains("escaping")
      let names = label == name && !isSubscript ? label : "\(label) \(name)"
      var reason = type.isNoMessage
      if isAsync, variable != nil {
        reason = "a target that is awaited would have the variable for long"
      }
      return Parameter(
        label: label, name: name, type: held, taken: escapes ? "@escaping \(held)" : held,
        variable: variable, isDelayed: type.attributes.contains("autoclosure"),
        isPack: parameter.type.is(PackExpansionTypeSyntax.self), delayedThrows: type.throws,
        declaration: "\(names): \(parameter.type.trimmedDescription)", isNoMessage: reason,
        escapes: specifiers.isEmpty && !type.attributes.contains("autoclosure"))
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

    /// The type of an argument.
    private struct ValueType {
      /// Without what belongs to the parameter alone.
      var text: String
      /// The names of its attributes.
      var attributes: [String]
      /// Whether it is a function that throws.
      var `throws`: Bool
      /// Why no message has it.
      var isNoMessage: String?
    }

    private func valueType(_ type: TypeSyntax) -> ValueType {
      var base = type
      var attributes: [AttributeSyntax] = []
      var reason: String?
      if let attributed = type.as(AttributedTypeSyntax.self) {
        base = attributed.baseType
        attributes = attributed.attributes.compactMap { $0.as(AttributeSyntax.self) }
        if attributed.specifiers.contains(where: { $0.trimmedDescription == "isolated" }) {
          reason = "an argument is isolated"
        }
      }
      let names = attributes.map(\.attributeName.trimmedDescription)
      let function = base.as(FunctionTypeSyntax.self) ?? aliasedFunction(base)
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
        throws: function?.effectSpecifiers?.throwsClause != nil, isNoMessage: reason)
    }

    /// The function that an alias of the protocol stands for.
    private func aliasedFunction(_ type: TypeSyntax) -> FunctionTypeSyntax? {
      guard let name = type.as(IdentifierTypeSyntax.self)?.name.text else { return nil }
      let alias = declaration.memberBlock.members.lazy.compactMap {
        $0.decl.as(TypeAliasDeclSyntax.self)
      }.first { $0.name.text == name }
      let value = alias?.initializer.value
      return value?.as(FunctionTypeSyntax.self)
        ?? value?.as(AttributedTypeSyntax.self)?.baseType.as(FunctionTypeSyntax.self)
    }

    /// A type, without what a declaration alone may say of it.
    func plain(_ type: TypeSyntax) -> String {
      if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return optional.wrappedType.trimmedDescription + "?"
      }
      return type.trimmedDescription
    }

    func resultType(_ type: TypeSyntax?) -> String {
      guard let type else { return Spelling.void }
      return type.isVoid ? Spelling.void : plain(type)
    }
  }

  extension [ProtocolReader.Parameter] {
    /// Why a message has not all of them.
    var firstReason: String? { lazy.compactMap(\.isNoMessage).first }
  }

  extension TypeSyntax {
    /// Whether its values never leave the one who has them.
    fileprivate var isLent: Bool {
      let name = self.as(IdentifierTypeSyntax.self)?.name.text ?? ""
      return [
        "Span", "RawSpan", "MutableSpan", "MutableRawSpan", "OutputSpan", "OutputRawSpan",
        "UTF8Span",
      ].contains(name)
    }
  }
#endif
