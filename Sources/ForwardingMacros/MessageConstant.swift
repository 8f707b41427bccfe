// SPDX-License-Identifier: Apache-2.0
/// The constant that holds a message of a proxy.
struct MessageConstant {
  /// The name of the constant inside the proxy.
  let name: String
  /// The name of the message in the proxy's `__Messages`.
  let publicName: String
  /// The types of the result and the arguments.
  let result: String
  let arguments: [String]
  /// The reason why the requirement cannot be sent as a message: the proxy has its selector alone. nil if it can.
  let isNoMessage: String?
  let selector: String
  /// The requirement as the protocol writes it.
  let spelling: String
  /// The doc comment of the requirement.
  let comment: String
  /// The type of its values, which a compiler names that misses `Sendable`; nil for those that are so by their names,
  /// and for a setter, whose getter carries the same.
  let valuesName: String?

  var types: String { ([result] + arguments).joined(separator: ", ") }

  /// The type of the constant.
  var type: String {
    isNoMessage == nil
      ? "\(Spelling.forwarding)Requirement<\(types)>" : "\(Spelling.invocations)Selector"
  }

  /// The type of its values, if it has a name: it is `Sendable` if they are.
  func declaration(_ access: String) -> String? {
    guard isNoMessage == nil, let valuesName else { return nil }
    return "  \(access == "public " ? "@frozen " : "")\(access)nonisolated struct \(valuesName) "
      + "{ let __values: \(Spelling.forwarding)_RequirementValues<\(types)> }"
  }

  /// What makes it.
  func value(isCached proxy: String?) -> String {
    if isNoMessage != nil {
      return
        "\(Spelling.forwarding)_ProxyMessage.selector(\"\(selector)\", name: \"\(spelling)\")"
    }
    let name = spelling == selector ? "" : ", name: \"\(spelling)\""
    return proxy.map { "\(type).known(\"\(selector)\", of: \($0).self\(name))" }
      ?? "\(type)(\"\(selector)\"\(name))"
  }
}

extension ProtocolReader {
  /// Names the message of a method or a getter, or that of a setter.
  mutating func message(
    of requirement: Requirement, _ parameters: [Parameter], setting value: Parameter?,
    _ noMessage: String?
  ) -> MessageConstant {
    let (word, labels) = (requirement.word, parameters.map(\.bareLabel))
    let isList = requirement.kind == .list
    var (words, spelled) = ([word] + labels, isList ? "`subscript`" : requirement.name.spelled)
    var selector = SelectorName.of(word, labels)
    if value != nil {
      words = isList ? ["setSubscript"] + labels : ["set", word]
      spelled = words[0]
      selector =
        isList
        ? SelectorName.of("setSubscript", labels + ["value"]) : SelectorName.setter(word)
    }
    let result = value == nil ? resultType(requirement.result) : Spelling.void
    let arguments = (parameters + (value.map { [$0] } ?? [])).map(\.type)
    let values = ([result] + arguments).joined(separator: ", ")
    return MessageConstant(
      name: names.constant(words),
      publicName: noMessage == nil ? names.message(words, spelled: spelled) : "",
      result: result, arguments: arguments, isNoMessage: noMessage,
      selector: names.selector(selector), spelling: requirement.subject,
      comment: value == nil ? requirement.comment : "",
      // An implicit conformance does not go through the type parameters of a proxy.
      valuesName: value == nil && proxy.parameters.isEmpty
        ? names.values(requirement.typed, values) : nil)
  }
}
