// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport

/// One program with all examples. Each example is a function, with the fixtures that it mentions.
///
/// A comment after an expression is its value, and one after `print(…)` is the printed text.
/// `throws:` precedes an error, and a colon after the value may introduce an explanation. A value
/// that differs between machines names them: `rdx on x86-64, x2 on AArch64`. Comments
/// after declarations, and on a line that opens a block, are prose.
struct ExampleProgram {
  /// The value that a comment claims.
  struct Claim {
    let place: String
    let text: String

    /// Whether the claim is a text, alone, before an explanation, or as that of this machine.
    func says(_ given: String) -> Bool {
      let machine = TestMachine.value(x86_64: "x86-64", aarch64: "AArch64")
      return text == given || text.hasPrefix(given + ": ")
        || text.components(separatedBy: ", ").contains("\(given) on \(machine)")
    }
  }

  private(set) var claims: [Claim] = []
  /// Comments that cannot be checked.
  private(set) var unreadable: [String] = []
  private let fixtures: [Chunk]
  private var lines: [String] = []
  private var extensions: Set<[String]> = []
  /// Fixtures of examples with macros, and the types declared outside all examples.
  private var proxyFixtures: [Chunk] = []
  private var shared: Set<[String]> = []
  private var count = 0

  init(preamble: [String], harness: [String]) {
    fixtures = Chunk.split(preamble, from: 1)
    lines = harness
  }

  /// Makes the types of files and further fixtures available to examples with macros. Protocols
  /// with a macro are declared outside the examples, because their proxies name them, and so are the
  /// types that they name.
  mutating func share(_ files: [Example], fixtures: [String]) {
    for file in files {
      for chunk in Chunk.split(file.code, from: file.line) where chunk.kind == .type {
        share(chunk, file.file)
      }
    }
    proxyFixtures = Chunk.split(fixtures, from: 1)
  }

  private mutating func share(_ chunk: Chunk, _ file: String) {
    if shared.insert(chunk.lines).inserted { emit(chunk, file) }
  }

  mutating func add(_ example: Example) {
    var code = example.code
    for (index, line) in code.enumerated() {
      code[index] = line.hasPrefix("import ") ? "" : checked(line, example, index)
    }
    let own = Chunk.split(code, from: example.line)
    let needed = needs(
      of: example.code, declared: own.compactMap(\.name),
      fixtures + (example.needsMacros ? proxyFixtures : []))
    let proxies = own.filter(\.hasProxy)
    let outside = own.filter { chunk in
      chunk.hasProxy || chunk.kind == .type && proxies.contains { $0.names(chunk) }
    }
    let chunks = (needed + own).filter { !$0.hasProxy && !outside.contains($0) }
    for chunk in outside { share(chunk, example.file) }
    count += 1
    lines.append("enum Example\(count) {")
    for chunk in chunks where chunk.kind == .type {
      emit(chunk, needed.contains { $0.name == chunk.name } ? "Preamble" : example.file)
    }
    // An `async` function without `await` would be a warning, so `async` is added only if needed.
    let waits = chunks.contains { $0.lines.contains { $0.contains(/\bawait\b/) } }
    lines += ["static func run() \(waits ? "async " : "")throws {"]
    for chunk in chunks where chunk.kind == .statement {
      emit(chunk, needed.contains { $0 == chunk } ? "Preamble" : example.file)
    }
    lines += ["}", "}"]
    for chunk in own where chunk.kind == .extension && extensions.insert(chunk.lines).inserted {
      emit(chunk, example.file)
    }
    lines.append(
      "await runExample(\"\(example.name)\") { try \(waits ? "await " : "")Example\(count).run() }")
  }

  /// The program, which prints the number of each checked claim with the value found.
  var text: String { (lines + ["finish()"]).joined(separator: "\n") + "\n" }

  private mutating func emit(_ chunk: Chunk, _ file: String) {
    lines.append("#sourceLocation(file: \"\(file)\", line: \(chunk.line))")
    lines += chunk.lines
    lines.append("#sourceLocation()")
  }

  /// The fixtures that a text mentions and does not declare, and those that these fixtures mention.
  private func needs(
    of code: [String], declared: [String], _ fixtures: [Chunk]
  ) -> [Chunk] {
    var missing = [code.joined(separator: "\n")]
    var names: Set<String> = []
    while let text = missing.popLast() {
      for fixture in fixtures {
        guard let name = fixture.name, !names.contains(name), !declared.contains(name),
          Self.mentions(name, text), fixture.kind == .type || !Self.binds(name, text)
        else { continue }
        names.insert(name)
        missing.append(fixture.lines.joined(separator: "\n"))
      }
    }
    return fixtures.filter { names.contains($0.name ?? "") }
  }

  private static func mentions(_ name: String, _ text: String) -> Bool {
    text.split { !$0.isLetter && !$0.isNumber }.contains { $0 == name }
  }

  /// Whether a text binds a name as a parameter or constant.
  private static func binds(_ name: String, _ text: String) -> Bool {
    ["\(name): ", "let \(name) ", "var \(name) "].contains { text.contains($0) }
  }

  // MARK: Comments

  /// Rewrites a line of code so that it checks the claim in its comment.
  private mutating func checked(_ line: String, _ example: Example, _ index: Int) -> String {
    guard let (code, text) = Self.split(line) else { return line }
    let isProse =
      code.contains(/(\{|\(|\[|,|\bin)$/)
      || code.contains(
        /^\s*(@|\}|(let|var|case|func|class|struct|enum|return|throw|guard|if|for|final|public|static)\b)/
      ) || code.contains(#/^\s*[\w.]+(\[.*\])? [-+*]?= /#)
    let place = "\(example.file):\(example.line + index)"
    if isProse, !code.contains(/^\s*\}/) { return line }
    if code.contains(/^\s*[.})]/) {
      unreadable.append("\(place): \(text)")
      return line
    }
    let number = claims.count
    claims.append(Claim(place: place, text: text))
    if code.contains(/^\s*print\(/) {
      return code.replacing("print(", with: "printed(\(number), ", maxReplacements: 1)
    }
    let expression = code.trimmingCharacters(in: .whitespaces)
    // A call with an unsafe argument needs the mark, too.
    let mark = code.contains(/\bunsafe\b/) ? "unsafe " : ""
    let check = "\(mark)found(\(number), \(expression))"
    return code.contains(/\btry\b/) ? "do { \(check) } catch { refused(\(number), error) }" : check
  }

  /// Splits a line into its code and the comment after it.
  private static func split(_ line: String) -> (code: String, comment: String)? {
    var isText = false
    var previous: Character = " "
    for index in line.indices {
      if line[index] == "\"", previous != "\\" { isText.toggle() }
      if !isText, line[index...].hasPrefix("// ") {
        let code = String(line[..<index].reversed().drop { $0 == " " }.reversed())
        guard !code.isEmpty else { return nil }
        return (code, line[index...].dropFirst(3).trimmingCharacters(in: .whitespaces))
      }
      previous = line[index]
    }
    return nil
  }
}

/// A declaration or statement that begins at the left margin, with all its lines.
struct Chunk: Equatable {
  enum Kind { case type, `extension`, statement }

  let kind: Kind
  /// The name that it declares or extends.
  let name: String?
  let line: Int
  var lines: [String]
  /// Whether it is a protocol for which a macro makes a proxy.
  var hasProxy: Bool { kind == .type && lines[0].hasPrefix("@Forwardable") }

  /// Whether it names the type that another chunk declares.
  func names(_ other: Chunk) -> Bool {
    guard let name = other.name else { return false }
    return lines.contains { $0.matches(of: /\w+/).contains { $0.output == name } }
  }

  static func split(_ lines: [String], from number: Int) -> [Chunk] {
    var chunks: [Chunk] = []
    var isOpen = false
    // Attributes on lines of their own, which belong to the next line.
    var attributes: [String] = []
    for (index, line) in lines.enumerated() {
      if line.contains(/^@\w+(\(.*\))?$/) {
        attributes.append(line)
        continue
      }
      if isOpen || line.hasPrefix(" "), !chunks.isEmpty {
        chunks[chunks.count - 1].lines.append(line)
        if line.hasPrefix("}") || line.hasPrefix(")") { isOpen = line.hasSuffix("{") }
        continue
      }
      guard !line.isEmpty else { continue }
      isOpen = line.contains(/(\{|\(|\{.*\bin)$/)
      let whole = (attributes + [line]).joined(separator: " ")
      var chunk = Chunk(whole, number + index - attributes.count)
      chunk.lines = attributes + [line]
      chunks.append(chunk)
      attributes = []
    }
    return chunks
  }
}

extension Chunk {
  fileprivate init(_ text: String, _ line: Int) {
    let bare = text.replacing(/\/\/.*/, with: "")
    let type =
      /^(?:@\w+(?:\(.*?\))? )*(?:final |distributed )?(class|struct|enum|protocol|actor|extension) ([\w.]+)/
    let value = /^(?:@Sendable )?(?:let|var|func|typealias) (\w+)/
    if let match = bare.firstMatch(of: type) {
      self.init(
        kind: match.1 == "extension" ? .extension : .type, name: String(match.2), line: line,
        lines: [text])
    } else {
      let name = bare.firstMatch(of: value).map { String($0.1) }
      self.init(kind: .statement, name: name, line: line, lines: [text])
    }
  }
}
