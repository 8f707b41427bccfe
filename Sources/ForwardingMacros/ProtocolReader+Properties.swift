// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax

  // Reads properties and subscripts: their getters and setters.
  extension ProtocolReader {
    /// The parts of the syntax that properties and subscripts share.
    private struct Place {
      var attributes: AttributeListSyntax
      var modifiers: DeclModifierListSyntax
      var keyword: TokenSyntax
      var name: TokenSyntax
      var accessors: AccessorBlockSyntax?
      var type: TypeSyntax
      /// The declaration without its accessors.
      var signature: String
      var head: String
      var comment: String
      /// The source behind the receiver of a call.
      var call: String
      /// The same where the call is no closure.
      var callAtOnce: String
      var parameters: [Parameter] = []
      /// The words that name the getter's message; below, those of the setter, and the selectors of
      /// both.
      var words: [String]
      var settingWords: [String]
      var selector: String
      var settingSelector: String
      var isGeneric = false

      func call(_ values: [String]) -> String {
        if parameters.isEmpty { return call }
        return "[\(zip(parameters, values).map { $0.passing($1) }.joined(separator: ", "))]"
      }
    }

    mutating func read(_ property: VariableDeclSyntax) -> FaceMember? {
      guard let binding = property.bindings.first, let type = binding.typeAnnotation?.type,
        let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
      else { return nil }
      let name = pattern.identifier
      subject = name.bare
      if isOfActors, !property.modifiers.contains(where: \.isNonisolated) {
        refuse(.actorProperty(subject), at: pattern)
      }
      return read(
        Place(
          attributes: property.attributes, modifiers: property.modifiers,
          keyword: property.bindingSpecifier, name: name, accessors: binding.accessorBlock,
          type: type, signature: "var \(name.text): \(type.trimmedDescription.withoutSelf)",
          head: front(property.attributes, property.modifiers, property),
          comment: comment(of: property), call: ".\(name.text)", callAtOnce: ".\(name.text)",
          words: [name.word],
          settingWords: ["set", name.word], selector: name.word,
          settingSelector: SelectorName.setter(name.word)))
    }

    mutating func read(_ list: SubscriptDeclSyntax) -> FaceMember? {
      subject =
        "subscript(\(list.parameterClause.parameters.map { $0.secondName == nil ? "_" : $0.firstName.text }.labels))"
      if isOfActors { refuse(.actorProperty(subject), at: list.subscriptKeyword) }
      let parameters = list.parameterClause.parameters.enumerated().map {
        read($0.element, number: $0.offset, isAsync: false, isSubscript: true)
      }
      let labels = parameters.map(\.bareLabel)
      let type = list.returnClause.type
      let generic = list.genericParameterClause?.trimmedDescription ?? ""
      let isGeneric = list.genericParameterClause != nil
      let declared = declared(
        parameters, isMessage: !isGeneric && parameters.firstReason == nil)
      let clause = list.genericWhereClause.map { " \($0.trimmedDescription)" } ?? ""
      return read(
        Place(
          attributes: list.attributes, modifiers: list.modifiers, keyword: list.subscriptKeyword,
          name: list.subscriptKeyword, accessors: list.accessorBlock, type: type,
          signature: "subscript\(generic)(\(declared)) -> \(type.trimmedDescription)\(clause)"
            .withoutSelf,
          head: front(list.attributes, list.modifiers, list), comment: comment(of: list),
          call: "[\(parameters.map(\.passed).joined(separator: ", "))]",
          callAtOnce: "[\(parameters.map(\.passedAtOnce).joined(separator: ", "))]",
          parameters: parameters,
          words: ["subscript"] + labels, settingWords: ["setSubscript"] + labels,
          selector: SelectorName.of("subscript", labels),
          settingSelector: SelectorName.of("setSubscript", labels + ["value"]),
          isGeneric: isGeneric))
    }

    private mutating func read(_ place: Place) -> FaceMember? {
      check(place.type, isResult: true)
      var getter: AccessorDeclSyntax?
      var setter: AccessorDeclSyntax?
      if case .accessors(let accessors) = place.accessors?.accessors {
        getter = accessors.first { $0.accessorSpecifier.text == "get" }
        setter = accessors.first { $0.accessorSpecifier.text == "set" }
      }
      let effects = getter?.effectSpecifiers
      let isAsync = effects?.asyncSpecifier != nil
      var reading = answer(
        place.type, place.attributes, effects?.throwsClause, of: place.keyword, name: place.name)
      reading.isAsync = isAsync
      let effect = effects.map { " \($0.trimmedDescription)" } ?? ""
      let accessors = { (get: String, set: String?) in
        "\(place.head)\(place.signature) {\n    get\(effect) { \(get) }"
          + (set.map { "\n    set { \($0) }" } ?? "") + "\n  }"
      }
      if isStatic(place.modifiers) { return staticPlace(place, reading, setter != nil) }
      let plain = self.plain(place.type)
      let noMessage =
        place.isGeneric
        ? "it has type parameters"
        : place.parameters.firstReason ?? ownActor(place.attributes, isAsync)
      let spelled = place.words[0] == "subscript" ? "`subscript`" : place.name.spelled
      let types = place.parameters.map(\.type)
      let changes = !face.isOfObjects
      let selector = unusedSelector(place.selector)
      let getting = MessageConstant(
        name: messageName(place.words),
        publicName: noMessage == nil ? publicName(place.words, spelled: spelled) : "",
        types: noMessage == nil ? ([plain] + types).joined(separator: ", ") : nil,
        selector: selector, comment: place.comment,
        valuesName: valuesName(
          place.words[0]
            + (place.words[0] == "subscript"
              ? signed(place.parameters, place.type) : ": \(place.type.trimmedDescription)"),
          ([plain] + types).joined(separator: ", ")))
      let sending = Sending(
        answer: reading, face: face.type, value: face.target, target: face.objectTarget,
        message: getting.name,
        values: place.parameters.map(\.name), call: place.call, callAtOnce: place.callAtOnce,
        sent: place.parameters.sent, result: plain,
        isMutating: changes && getter?.modifier?.name.text == "mutating", isNoMessage: noMessage)
      var member = FaceMember(messages: [getting], member: "", boxed: "")
      member.isMutating = changes && (setter != nil || sending.isMutating)
      if noMessage == nil {
        member.answers.append(
          answer(getting, place.parameters, reading, plain, isMutating: sending.isMutating) {
            place.call($0)
          })
      }
      var storing: Sending?
      if setter != nil {
        var setting = Answer(isVoid: true)
        setting.isOptional = reading.isOptional
        let value = Parameter(
          label: "_", name: "newValue", type: plain,
          taken: (place.type.function ?? aliasedFunction(place.type)) == nil
            ? plain : "@escaping \(plain)",
          declaration: "")
        let constant = MessageConstant(
          name: messageName(place.settingWords),
          publicName: noMessage == nil
            ? publicName(place.settingWords, spelled: place.settingWords[0]) : "",
          types: noMessage == nil
            ? ([Spelling.void] + types + [plain]).joined(separator: ", ") : nil,
          selector: unusedSelector(place.settingSelector), sharesValues: true)
        member.messages.append(constant)
        storing = Sending(
          answer: setting, face: face.type, value: face.target, target: face.objectTarget,
          message: constant.name,
          values: place.parameters.map(\.name) + ["newValue"], call: "\(place.call) = newValue",
          callAtOnce: "\(place.callAtOnce) = newValue", sent: place.parameters.sent,
          isMutating: changes, isNoMessage: noMessage)
        if noMessage == nil {
          member.answers.append(
            answer(
              constant, place.parameters + [value], setting, Spelling.void, isMutating: changes
            ) { place.call($0.dropLast()) + " = \($0.last ?? "")" })
        }
      }
      member.member = accessors(sending.statement, storing?.statement)
      let settingSelector = member.messages.last?.selector ?? ""
      member.boxed = accessors(sending.boxed(selector), storing?.boxed(settingSelector))
      if reading.isOptional {
        let leave = reading.leaving(leavingOut(selector))
        let setting = member.messages.dropFirst().first.map { leavingOut($0.selector) }
        member.defaults = [
          "\(isolation(place.attributes, place.modifiers))\(face.access)\(place.signature) {\(Self.defaultHint)\n    get\(effect) { \(leave) }"
            + (setting.map { "\n    \(changes ? "nonmutating " : "")set { \($0) }" } ?? "")
            + "\n  }"
        ]
      }
      return member
    }

    private mutating func staticPlace(
      _ place: Place, _ answer: Answer, _ isSettable: Bool
    ) -> FaceMember {
      if answer.isOptional { refuse(.optionalStatic(subject), at: place.name) }
      if isSettable { refuse(.settableStatic(subject), at: place.name) }
      let value = answer.otherwise ?? answer.statement
      let text = "\(place.head)\(place.signature) { \(value) }"
      return FaceMember(member: text, boxed: text)
    }
  }
#endif
