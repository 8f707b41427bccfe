/// How the code of a face names what it uses: with the module in front, as `Module::name`. A program may have types
/// of these names, and one that is called like a module.
enum Spelling {
  static let forwarding = "Forwarding::"
  static let invocations = "Invocations::"
  static let swift = "Swift::"
  static let void = "Swift::Void"
  static let anyError = "any Swift::Error"
}
