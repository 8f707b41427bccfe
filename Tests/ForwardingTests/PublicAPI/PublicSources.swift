// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation

/// The parts of a module's public API that only its sources contain: the digester leaves out
/// unavailable declarations, and the attributes of conformances.
struct PublicSources {
  /// Attributes such as `@unchecked`, by the unqualified names of the type and the protocol:
  /// `MulticastProxy: Sendable`.
  let conformanceMarks: [String: String]
  /// The declarations that exist to refuse calls that would match another one.
  let unavailable: [String]
  /// The protocols that clients do not see.
  let packageProtocols: Set<String>

  init(module: String) throws {
    var marks: [String: String] = [:]
    var unavailable: [String] = []
    for file in try Self.files(of: module) {
      let text = try String(contentsOf: file, encoding: .utf8).replacing(/\/\/.*/, with: "")
      for (type, clause) in Self.inheritance(in: text) {
        for entry in clause.split(separator: ",") {
          let words = entry.split(whereSeparator: \.isWhitespace)
          guard let name = words.first(where: { !$0.hasPrefix("@") }), words[0].hasPrefix("@")
          else { continue }
          marks["\(type): \(name)"] = words.prefix { $0.hasPrefix("@") }.joined(separator: " ")
        }
      }
      unavailable += Self.unavailable(in: text)
    }
    (conformanceMarks, self.unavailable) = (marks, unavailable)
    packageProtocols = try Set(
      ["TypeEncodings", "Invocations", "Forwarding"].flatMap(Self.files(of:)).flatMap { file in
        try String(contentsOf: file, encoding: .utf8)
          .matches(of: /\bpackage\s+protocol\s+(\w+)/).map { String($0.1) }
      })
  }

  private static func files(of module: String) throws -> [URL] {
    let folder = Toolchain.package.appendingPathComponent(Toolchain.sources(of: module))
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (all?.compactMap { $0 as? URL } ?? []).filter {
      $0.pathExtension == "swift" && !$0.path.contains(".docc/")
    }
  }

  /// Each type with conformances, by its unqualified name, and its inheritance clause.
  private static func inheritance(in text: String) -> [(String, Substring)] {
    let pattern =
      /\b(?:class|struct|enum|actor|protocol|extension)\s+([\w.]+)(?:<[^{>]*>)?\s*:\s*([^{]*)\{/
    return text.matches(of: pattern).map { match in
      let name = match.1.split(separator: ".").last.map(String.init) ?? ""
      return (name, match.2.split(separator: /\bwhere\b/).first ?? "")
    }
  }

  private static func unavailable(in text: String) -> [String] {
    let pattern =
      /@available\(\s*\*,\s*unavailable(?s:.*?)\)\s+((?:public|open|extension)\s[^{]*)\{/
    let type =
      /(?m)^(?:(?:public|open|final)\s+)*(?:class|struct|enum|protocol|extension)\s+([\w.]+)/
    return text.matches(of: pattern).map { match in
      let owner = text[..<match.range.lowerBound].matches(of: type).last?.1 ?? "the module"
      let words = match.1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return "unavailable in \(owner): \(words)"
    }
  }
}
