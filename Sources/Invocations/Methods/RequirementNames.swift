// SPDX-License-Identifier: Apache-2.0
/// The requirements as their protocols write them, by their selectors: an error has the selector alone.
package enum RequirementNames {
  private static let names = Guarded<[Selector: String]>([:])

  /// Notes a name. A selector that two protocols write differently has none.
  package static func note(_ name: String, for selector: Selector) {
    names.withLockInPlace { names in
      names[selector] = names[selector, default: name] == name ? name : selector.name
    }
  }

  /// The name of a requirement, or else its selector.
  package static func name(of selector: Selector) -> String {
    names.read { $0[selector] } ?? selector.name
  }
}
