// SPDX-License-Identifier: Apache-2.0
/// `forward proxy`: restates a protocol of another module for `@Forwardable(as:)`.
enum ProxyCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard let name = options.positional.first else {
      throw options.fault(
        "proxy needs a protocol with its module: forward proxy FoundationXML.XMLParserDelegate")
    }
    let words = name.split(separator: ".", maxSplits: 1).map(String.init)
    guard words.count == 2, !name.hasPrefix("-") else {
      throw options.fault("'\(name)' names no module: write Module.\(words.first ?? "Protocol")")
    }
    let others = Array(options.positional.dropFirst())
    if let other = others.first, !other.hasPrefix("-") {
      throw options.fault("proxy takes one protocol, but '\(other)' was given, too")
    }
    let graphs = SymbolGraphs(options: others)
    let restated = try RestatedProtocol(
      words[1], of: words[0], named: options.values["--name"]?.last, in: graphs)
    // 'Module.Protocol' would look for the protocol inside a type with the module's name.
    let hasOwnName = try graphs.graph(of: words[0]).symbols.contains { $0.path == words[0] }
    Terminal.out(restated.source(hasOwnName: hasOwnName))
    return .ok
  }
}
