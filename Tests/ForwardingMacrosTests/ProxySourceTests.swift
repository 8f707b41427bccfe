// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import ForwardingTestSupport
  import Testing

  /// How a program isolates its declarations.
  enum ProgramIsolation: CaseIterable {
    case none, mainActor, approachable

    var options: [String] {
      switch self {
      case .none: []
      case .mainActor: ["-default-isolation", "MainActor"]
      case .approachable:
        [
          "-default-isolation", "MainActor", "-enable-upcoming-feature",
          "InferIsolatedConformances", "-enable-upcoming-feature",
          "NonisolatedNonsendingByDefault",
        ]
      }
    }
  }

  @Suite("The expansions of '@Forwardable' and '@CLibrary'")
  struct ProxySourceTests {
    private static let strict = [
      "-typecheck", "-parse-as-library", "-warnings-as-errors", "-strict-memory-safety",
    ]
    private static let withProxies = Toolchain.moduleOptions + Toolchain.macroOptions
    private static let data = Toolchain.package.appendingPathComponent("Tests/Data/Proxies")

    fileprivate static func data(_ name: String) throws -> String {
      try String(contentsOf: data.appendingPathComponent(name), encoding: .utf8)
    }

    /// Runs `body` with an empty folder.
    private func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      return try body(folder)
    }

    /// Compiles a source, which is called `client.swift` in the errors.
    private func compile(_ source: String, _ options: [String]) throws -> (
      status: Int32, errors: String
    ) {
      try inFolder { folder in
        let file = folder.appendingPathComponent("client.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        let swiftc = try #require(Toolchain.path(of: "swiftc"))
        let finished = try run(swiftc, ["-swift-version", "6", file.path] + options)
        return (finished.status, finished.errors.replacing(file.path, with: "client.swift"))
      }
    }

    /// The lines of the compiler's errors for a client.
    private func errors(
      of source: String, _ options: [String] = Self.withProxies
    ) throws -> [String] {
      try compile(source, Self.strict + ["-diagnostic-style=llvm"] + options).errors
        .components(separatedBy: "\n")
    }

    @Test(
      "an unsupported declaration is refused at its token, with advice")
    func refused() throws {
      let sources = RefusedSources(
        "RefusedProtocols", options: Toolchain.macroOptions, hasColumns: true)
      for issue in try sources.check() { Issue.record("\(issue)") }
    }

    @Test("the expansion equals the golden")
    func expansion() throws {
      let finished = try compile(
        Self.data("Expanded.swift.txt"),
        Self.strict + ["-Xfrontend", "-dump-macro-expansions"] + Self.withProxies)
      #expect(finished.status == 0, "\(finished.errors)")
      let text = finished.errors.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("@__swiftmacro") && !$0.hasPrefix("------") }
        .map { $0.reversed().drop { $0 == " " }.reversed() }.map { String($0) }
        .joined(separator: "\n")
      let golden = Self.data.appendingPathComponent("Expanded.expansion.txt")
      if Toolchain.records { try text.write(to: golden, atomically: true, encoding: .utf8) }
      #expect(try text == Self.data("Expanded.expansion.txt"))
    }

    @Test("rare requirements compile without a warning", arguments: ProgramIsolation.allCases)
    func rare(_ isolation: ProgramIsolation) throws {
      // The checks of `sending` need more than types.
      let options = [
        "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-warnings-as-errors", "-package-name",
        "rare", "-diagnostic-style=llvm",
      ]
      let finished = try compile(
        Self.data("Rare.swift.txt"), options + isolation.options + Self.withProxies)
      #expect(finished.status == 0, "\(finished.errors)")
    }

    /// The names of the public types of the modules that proxies use, without those of the attributes
    /// in the program, and names of the standard library's types and of a proxy's members without
    /// their underscores.
    private static func takenNames() throws -> [String] {
      let folder = Toolchain.package.appendingPathComponent("Tests/Data/PublicAPI")
      let modules = ["Forwarding", "Invocations", "TypeEncodings"]
      let types = try modules.flatMap { module in
        let file = folder.appendingPathComponent("\(module).txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
          $0.wholeMatch(of: /\s*(?:class|struct|enum|protocol|actor|typealias) (\w+)(?:[ :].*)?/)
            .map { String($0.1) }
        }
      }
      let others = [
        "Void", "Int", "Bool", "AnyClass", "AnyObject", "KeyPath", "Error", "Sendable", "Target",
        "SendableTarget", "Values", "Messages", "InView", "Object", "Box", "Proxy", "Untyped",
      ]
      return Set(types + modules + others).subtracting(["Forwardable", "Otherwise", "Optional"])
        .sorted()
    }

    @Test("the types, arguments and properties of a program may have any names")
    func names() throws {
      let names = try Self.takenNames()
      let types = names.map { "public struct \($0) {}" }
      let requirements = names.map {
        "  func take(_ value: \($0), then other: inout \($0)) -> \($0)?"
      }
      let source = try Self.data("TakenNames.swift.txt")
        .replacing("TYPES", with: types.joined(separator: "\n"))
        .replacing("REQUIREMENTS", with: requirements.joined(separator: "\n"))
      #expect(try errors(of: source) == [""])
    }

    @Test("without the trait, the attributes explain how to enable it")
    func noTrait() throws {
      let source = """
        import Forwarding
        @Forwardable
        protocol Door: AnyObject {
          @Otherwise(true) func open() -> Bool
        }
        @Forwardable(as: (any Door).self)
        protocol Doors: AnyObject {
          func open() -> Bool?
        }
        final class Session {
          @Delegates var delegate: any Door
        }
        @CLibrary("libm.so.6")
        struct Math {
          let cos: @convention(c) (Double) -> Double
        }
        """
      let why = "it needs the trait Macros, which `traits: []` left out"
      try inFolder { folder in
        let macros = Toolchain.package.appendingPathComponent(
          "Sources/Forwarding/Generated/Macros.swift")
        let compiled = try compile(
          String(contentsOf: macros, encoding: .utf8),
          [
            "-emit-module", "-emit-module-path", "\(folder.path)/Forwarding.swiftmodule",
            "-module-name", "Forwarding", "-parse-as-library",
          ])
        try #require(compiled.status == 0, "\(compiled.errors)")
        let errors = try errors(of: source, ["-I", folder.path]).filter { $0.contains(" error: ") }
        #expect(
          Set(errors) == [
            "client.swift:2:2: error: 'Forwardable' is unavailable: \(why)",
            "client.swift:4:4: error: 'Otherwise' is unavailable: \(why)",
            "client.swift:4:3: error: result builder attributes cannot have arguments",
            "client.swift:6:2: error: 'Forwardable' is unavailable: \(why)",
            "client.swift:6:1: error: global actor attribute 'Forwardable' cannot have arguments",
            "client.swift:11:4: error: 'Delegates' is unavailable: \(why)",
            "client.swift:13:2: error: 'CLibrary' is unavailable: \(why)",
            "client.swift:13:1: error: global actor attribute 'CLibrary' cannot have arguments",
          ])
      }
    }

    /// A source that the compiler refuses without `mark` in place of `MARK`: the lines of a block in
    /// `Advice.swift.txt`.
    private struct Advice: CustomTestStringConvertible, Sendable {
      let testDescription: String
      private var fields: [String: String] = [:]
      private(set) var source = "import Forwarding\n"
      var error: String { fields["error"] ?? "" }
      var advice: String { fields["advice"] ?? "" }
      var mark: String { fields["mark"] ?? "" }
      /// The number of such errors, however often the macro's expansion would say them.
      var count: Int? { fields["count"].flatMap { Int($0) } }

      init(_ block: String) {
        let lines = block.components(separatedBy: "\n")
        testDescription = lines[0]
        for line in lines.dropFirst() {
          if let field = line.wholeMatch(of: /(error|advice|count|mark): (.*)/) {
            fields[String(field.1)] = String(field.2)
          } else {
            source += line + "\n"
          }
        }
      }

      static let all = ((try? ProxySourceTests.data("Advice.swift.txt")) ?? "=== no file")
        .components(separatedBy: "=== ").dropFirst().map { Advice($0) }
    }

    @Test("an error of a wrong base shows the solution, which compiles", arguments: Advice.all)
    private func bases(_ row: Advice) throws {
      func errors(_ mark: String) throws -> [String] {
        try self.errors(of: row.source.replacing("MARK", with: mark))
      }
      let lines = try errors("")
      let wrong = lines.indices.filter { lines[$0].contains(row.error) }
      #expect(row.count.map { $0 == wrong.count } ?? !wrong.isEmpty, "\(lines)")
      for line in wrong {
        #expect(lines[line + 1].contains(row.advice), "\(lines)")
      }
      #expect(try errors(row.mark) == [""])
    }

    @Test("the optimizer does not treat a proxy as an object of the protocol's only class")
    func oneClass() throws {
      let modules = ["Forwarding", "Invocations", "TypeEncodings", "CForwardingShims"]
      let linking = try Toolchain.linkOptions(for: modules)
      try inFolder { folder in
        let program = folder.appendingPathComponent("program").path
        let compiled = try compile(
          Self.data("OneClass.swift.txt"),
          ["-O", "-whole-module-optimization", "-o", program] + Self.withProxies + linking)
        try #require(compiled.status == 0, "\(compiled.errors)")
        let finished = try run(program, [])
        #expect(finished.status == 0)
        #expect(
          finished.output.split(separator: "\n") == [
            "hear [\"hello\"]", "see 1", "smell 42", "think 13", "hear more twice", "more 42",
          ])
      }
    }
  }
#endif
