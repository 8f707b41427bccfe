// SPDX-License-Identifier: Apache-2.0
/// The module-qualified names in the source of a proxy, such as `Module::name`. A program may
/// declare types of the same names, or a type with the name of a module.
enum Spelling {
  static let forwarding = "Forwarding::"
  static let invocations = "Invocations::"
  static let swift = "Swift::"
  static let void = "Swift::Void"
  static let anyError = "any Swift::Error"
}
