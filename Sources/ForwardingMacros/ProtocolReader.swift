#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax

  /// Reads a protocol, and makes a face of it or says why there is none.
  struct ProtocolReader {
    let declaration: ProtocolDeclSyntax
    var diagnostics: [Diagnostic] = []
    var usedSelectors: Set<String> = []
    var usedNames: Set<String> = []
    var usedPublicNames: Set<String> = []

    init(_ declaration: ProtocolDeclSyntax) { self.declaration = declaration }

    /// Returns nil if something was refused.
    mutating func read() -> Face? {
      checkInheritance()
      let access = declaration.modifiers.map(\.name.text).filter {
        ["public", "package", "fileprivate", "private"].contains($0)
      }.map { $0 + " " }.joined()
      var face = Face(
        name: declaration.name.text, access: access == "private " ? "fileprivate " : access,
        attributes: attributes.map { $0 + " " }.joined(), actor: actor,
        isOfActors: isOfActors, isSendable: inherited.contains("Sendable"),
        isNonisolated: declaration.modifiers.contains(where: \.isNonisolated),
        bases: bases, members: [])
      for member in declaration.memberBlock.members {
        if let member = read(member.decl, face.access) { face.members.append(member) }
      }
      return diagnostics.isEmpty ? face : nil
    }

    /// The name of the face.
    private var face: String { "\(declaration.name.text)Proxy" }

    private mutating func read(_ declaration: DeclSyntax, _ access: String) -> FaceMember? {
      if let function = declaration.as(FunctionDeclSyntax.self) { return read(function, access) }
      if let property = declaration.as(VariableDeclSyntax.self) { return read(property, access) }
      if let type = declaration.as(AssociatedTypeDeclSyntax.self) {
        refuse(.associatedType, at: type.associatedtypeKeyword)
      } else if let initializer = declaration.as(InitializerDeclSyntax.self) {
        refuse(.initializer, at: initializer.initKeyword)
      } else if let list = declaration.as(SubscriptDeclSyntax.self) {
        refuse(.subscripting, at: list.subscriptKeyword)
      } else {
        refuse(.member, at: declaration)
      }
      return nil
    }

    // MARK: Methods

    private mutating func read(_ function: FunctionDeclSyntax, _ access: String) -> FaceMember? {
      checkModifiers(function.modifiers)
      if let generic = function.genericParameterClause { refuse(.generic, at: generic) }
      checkWaiting(function)
      let effects = function.signature.effectSpecifiers
      let isAsync = effects?.asyncSpecifier != nil
      let parameters = function.signature.parameterClause.parameters.enumerated().map {
        read($0.element, number: $0.offset, isAsync: isAsync)
      }
      let result = function.signature.returnClause?.type
      if let result { check(result) }
      let name = function.name.bare
      let selector = unused(
        SelectorName.of(name, parameters.map(\.bareLabel)), &usedSelectors
      ) { selector, number in
        let end = selector.firstIndex(of: ":") ?? selector.endIndex
        return selector[..<end] + "_\(number)" + selector[end...]
      }
      let words = [name] + parameters.map(\.bareLabel)
      let message = messageName(words)
      let thrown = effects?.throwsClause
      var answer = answer(
        result, function.attributes, thrown, of: function.funcKeyword, name: function.name)
      answer.isAsync = isAsync
      answer.target = declaration.name.text
      let result_ = resultType(result)
      let types = ([result_] + parameters.map(\.type)).joined(separator: ", ")
      let isOptional = isOptional(function.attributes)
      answer.isOptional = isOptional
      let body = body(
        parameters, isAsync: isAsync, throws: answer.throws, result: result_,
        optional: isOptional ? selector : nil, name: function.name.text)
      let declared = parameters.map(\.declaration).joined(separator: ", ")
      let throwing =
        (isAsync ? " async" : "") + (thrown.map { " \($0.trimmedDescription)" } ?? "")
      let returning = result.map { " -> \($0.trimmedDescription)" } ?? ""
      let head = front(function.attributes, function.modifiers, function, access)
      let passed = parameters.map {
        ($0.label == "_" ? "" : "\($0.labelInCalls): ") + ($0.variable == nil ? "" : "&") + $0.name
      }
      let call = ".\(function.name.text)(\(passed.joined(separator: ", ")))"
      let variables = parameters.compactMap { parameter in
        parameter.variable.map { _ in (parameter.name, parameter.type) }
      }
      let member = { (place: String) in
        let send = answer.sending(
          message, parameters.map(\.name), call: call, at: place, variables: variables,
          result: result_)
        return """
          \(head)func \(function.name.text)(\(declared))\(throwing)\(returning) {
              \(send)
            }
          """
      }
      return FaceMember(
        messages: [
          MessageConstant(
            name: message, publicName: publicName(words, spelled: function.name.text),
            type: "Requirement<\(types)>", selector: selector, comment: comment(of: function))
        ],
        member: member,
        defaults: isOptional
          ? [
            "\(access)func \(function.name.text)(\(declared))\(throwing)\(returning) { "
              + "OptionalRequirement.leaveOut(self, \"\(selector)\")\(answer.leaving) }"
          ] : [],
        answers: [
          "methods.answer(\(isOptional ? "optional: " : "")\(message), \(body))"
        ])
    }

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
      /// All of it.
      var declaration: String
      /// The label without backticks; empty if there is none.
      var bareLabel: String {
        label == "_" ? "" : label.replacing("`", with: "")
      }
      /// The label in front of a value, where nearly all keywords may stand as they are.
      var labelInCalls: String {
        ["inout", "let", "var"].contains(bareLabel) ? label : bareLabel
      }
    }

    private mutating func read(
      _ parameter: FunctionParameterSyntax, number: Int, isAsync: Bool
    ) -> Parameter {
      let label = parameter.firstName.text
      var name = (parameter.secondName ?? parameter.firstName).text
      if name == "_" { name = "_value\(number)" }
      if let dots = parameter.ellipsis { refuse(.variadic, at: dots) }
      check(parameter.type)
      let names = label == name ? label : "\(label) \(name)"
      let plain = valueType(parameter.type)
      let isVariable = parameter.type.as(AttributedTypeSyntax.self)?.specifiers.contains {
        $0.trimmedDescription == "inout"
      }
      let variable = isVariable ?? false ? plain : nil
      if isAsync, variable != nil { refuse(.awaitedInout, at: parameter.type) }
      let type = variable.map { "InoutVariable<\($0)>" } ?? plain
      let escapes = parameter.type.as(AttributedTypeSyntax.self)?.attributes.contains {
        $0.as(AttributeSyntax.self)?.attributeName.trimmedDescription == "escaping"
      }
      return Parameter(
        label: label, name: name, type: type,
        taken: escapes ?? false ? "@escaping \(type)" : type, variable: variable,
        declaration: "\(names): \(parameter.type.trimmedDescription)")
    }

    /// The type of an argument, without what belongs to the parameter alone.
    private mutating func valueType(_ type: TypeSyntax) -> String {
      var base = type
      var attributes: [AttributeSyntax] = []
      if let attributed = type.as(AttributedTypeSyntax.self) {
        base = attributed.baseType
        attributes = attributed.attributes.compactMap { $0.as(AttributeSyntax.self) }
        for specifier in attributed.specifiers {
          if specifier.trimmedDescription == "isolated" {
            refuse(.isolatedArgument, at: specifier)
          }
        }
      }
      let names = attributes.map(\.attributeName.trimmedDescription)
      if let index = names.firstIndex(of: "autoclosure") {
        refuse(.autoclosure, at: attributes[index])
      } else if base.is(FunctionTypeSyntax.self), !names.contains("escaping") {
        refuse(
          .nonescaping, at: type, "add '@escaping'",
          replacing(type, "@escaping \(type.trimmedDescription)"))
      }
      let kept = attributes.filter { $0.attributeName.trimmedDescription != "escaping" }
      return kept.map { $0.trimmedDescription + " " }.joined() + plain(base)
    }

    private func plain(_ type: TypeSyntax) -> String {
      if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return optional.wrappedType.trimmedDescription + "?"
      }
      return type.trimmedDescription
    }

    private func resultType(_ type: TypeSyntax?) -> String {
      guard let type else { return "Void" }
      return type.isVoid ? "Void" : plain(type)
    }

    // MARK: Properties

    private mutating func read(_ property: VariableDeclSyntax, _ access: String) -> FaceMember? {
      checkModifiers(property.modifiers)
      guard let binding = property.bindings.first, let type = binding.typeAnnotation?.type,
        let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
      else { return nil }
      check(type)
      if isOptional(property.attributes) { refuse(.optionalProperty, at: pattern) }
      if isOfActors, !property.modifiers.contains(where: \.isNonisolated) {
        refuse(.actorProperty, at: pattern)
      }
      var isSettable = false
      if case .accessors(let accessors) = binding.accessorBlock?.accessors {
        for accessor in accessors {
          if let effects = accessor.effectSpecifiers { refuse(.effectfulAccessor, at: effects) }
          if accessor.accessorSpecifier.text == "set" { isSettable = true }
        }
      }
      let bare = pattern.identifier.bare
      let name = pattern.identifier.text
      var reading = answer(
        type, property.attributes, nil, of: property.bindingSpecifier, name: pattern.identifier)
      reading.target = declaration.name.text
      let answer = reading
      let getter = messageName([bare])
      let head = front(property.attributes, property.modifiers, property, access)
      var member = FaceMember(
        messages: [
          MessageConstant(
            name: getter, publicName: publicName([bare], spelled: name),
            type: "Requirement<\(resultType(type))>", selector: bare,
            comment: comment(of: property))
        ], member: { _ in "" },
        answers: [
          "methods.answer(\(getter), "
            + "unsafe FaceBody { (object: Object) -> \(resultType(type)) in object.\(name) })"
        ])
      var setting = Answer(isVoid: true)
      setting.target = declaration.name.text
      var setter: String?
      if isSettable {
        let message = messageName(["set", bare])
        setter = message
        member.messages.append(
          MessageConstant(
            name: message, publicName: publicName(["set", bare], spelled: name),
            type: "Requirement<Void, \(plain(type))>", selector: SelectorName.setter(bare)))
        member.answers.append(
          "methods.answer(\(message), "
            + "unsafe FaceBody { (object: Object, value: \(plain(type))) in object.\(name) = value })"
        )
      }
      member.member = { place in
        var body = "    get { \(answer.sending(getter, [], call: ".\(name)", at: place)) }"
        if let setter {
          let call = ".\(name) = newValue"
          body += "\n    set { \(setting.sending(setter, ["newValue"], call: call, at: place)) }"
        }
        return "\(head)var \(name): \(type.trimmedDescription) {\n\(body)\n  }"
      }
      return member
    }
  }
#endif
