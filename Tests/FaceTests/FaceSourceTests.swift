#if Macros
  import Foundation
  import ForwardingTestSupport
  import Testing

  @Suite("What '@Forwardable' writes")
  struct FaceSourceTests {
    @Test(
      "what a face cannot do is refused at the very token, with a sentence that says what to do")
    func refused() throws {
      let sources = RefusedSources(
        "RefusedProtocols", options: Toolchain.macroOptions, hasColumns: true)
      for issue in try sources.check() { Issue.record("\(issue)") }
    }

    @Test("a face is written as the golden says")
    func expansion() throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let folder = Toolchain.package.appendingPathComponent("Tests/Data/Faces")
      let source = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString).swift")
      try FileManager.default.copyItem(
        at: folder.appendingPathComponent("Expanded.swift.txt"), to: source)
      defer { try? FileManager.default.removeItem(at: source) }
      let finished = try run(
        swiftc,
        [
          "-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
          "-strict-memory-safety", "-Xfrontend", "-dump-macro-expansions", source.path,
        ] + Toolchain.moduleOptions + Toolchain.macroOptions)
      #expect(finished.status == 0, "\(finished.errors)")
      let text = finished.errors.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("@__swiftmacro") && !$0.hasPrefix("------") }
        .map { $0.reversed().drop { $0 == " " }.reversed() }.map { String($0) }
        .joined(separator: "\n")
      let golden = folder.appendingPathComponent("Expanded.expansion.txt")
      if Toolchain.records { try text.write(to: golden, atomically: true, encoding: .utf8) }
      #expect(try text == String(contentsOf: golden, encoding: .utf8))
    }
  }
#endif
