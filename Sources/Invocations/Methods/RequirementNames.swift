// SPDX-License-Identifier: Apache-2.0
/// The requirements as their protocols write them, by their selectors: an error has the selector alone.
package enum RequirementNames {
  private static let names = Guarded<[Selector: String]>([:])

  /// Notes a requirement, as `ChatDelegate.chat(_:upload:)`. A selector that two protocols share has no protocol, and
  /// one that they write differently has no name.
  package static func note(_ name: String, for selector: Selector) {
    names.withLockInPlace { names in
      let noted = names[selector, default: name]
      let (one, other) = (split(noted).name, split(name).name)
      names[selector] = noted == name ? name : one == other ? one : selector.name
    }
  }

  /// The name of a requirement, or else its selector.
  package static func name(of selector: Selector) -> String {
    names.read { $0[selector] }.map { split($0).name } ?? selector.name
  }

  /// The name in quotes, with the protocol if one alone has it: `'chat(_:upload:)' of ChatDelegate`.
  package static func title(of selector: Selector) -> String {
    let owner = names.read { $0[selector] }.flatMap { split($0).owner }
    return "'\(name(of: selector))'" + (owner.map { " of \($0)" } ?? "")
  }

  private static func split(_ noted: String) -> (owner: Substring?, name: String) {
    guard let dot = noted.prefix(while: { $0 != "(" }).lastIndex(of: ".") else {
      return (nil, noted)
    }
    return (noted[..<dot], String(noted[noted.index(after: dot)...]))
  }
}
