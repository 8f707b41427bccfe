// SPDX-License-Identifier: Apache-2.0
// The constant that holds the message of a call.
extension Call {
  /// The types of the result and the arguments.
  var types: String { ([result] + parameters.map(\.type)).joined(separator: ", ") }

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
  var value: String {
    let name = "name: \"\(proxy.name).\(requirement.subject)\""
    if isNoMessage != nil {
      return "\(Spelling.forwarding)_ProxyMessage.selector(\"\(selector)\", \(name))"
    }
    let combine = answer.combine.map { ", combine: \($0)" } ?? ""
    let owner = answer.combine == nil ? "" : ", of: \(proxy.type).self"
    return proxy.parameters.isEmpty
      ? "\(type)(\"\(selector)\", \(name)\(owner)\(combine))"
      : "\(type).__known(\"\(selector)\", of: \(proxy.type).self, \(name)\(combine))"
  }
}

extension ProtocolReader {
  /// The call of a method or a getter, or that of a setter with its new value, and the names of its message.
  mutating func call(
    _ requirement: Requirement, _ answer: Answer, _ parameters: [Parameter],
    setting value: Parameter?, _ noMessage: String?
  ) -> Call {
    let (word, labels) = (requirement.word, parameters.map(\.bareLabel))
    var (words, selector) = ([word] + labels, SelectorName.of(word, labels))
    if value != nil, requirement.kind == .list {
      words = ["setSubscript"] + labels
      selector = SelectorName.of("setSubscript", labels + ["value"])
    } else if value != nil {
      words = ["set", word]
      selector = "\(words.inCamelCase):"
    }
    let result = value == nil ? resultType(requirement.result) : Spelling.void
    let parameters = parameters + (value.map { [$0] } ?? [])
    let values = ([result] + parameters.map(\.type)).joined(separator: ", ")
    return Call(
      proxy: proxy, requirement: requirement, isSetter: value != nil, answer: answer,
      parameters: parameters, name: names.constant(words),
      publicName: noMessage == nil ? names.message(words) : "",
      selector: names.selector(selector), result: result, isNoMessage: noMessage,
      // An implicit conformance does not go through the type parameters of a proxy.
      valuesName: value == nil && proxy.parameters.isEmpty
        ? names.values(requirement.typed, values) : nil)
  }
}
