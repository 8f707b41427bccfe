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

    @Test("a program may have types of any name, and arguments and properties too")
    func names() throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let source = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString).swift")
      defer { try? FileManager.default.removeItem(at: source) }
      try TakenNames.source().write(to: source, atomically: true, encoding: .utf8)
      let finished = try run(
        swiftc,
        [
          "-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
          "-strict-memory-safety", source.path,
        ] + Toolchain.moduleOptions + Toolchain.macroOptions)
      #expect(finished.status == 0, "\(finished.errors.prefix(3000))")
    }

    @Test("a face is no object of the only class that its protocol has, to the optimizer either")
    func oneClass() throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let source = folder.appendingPathComponent("main.swift")
      let program = folder.appendingPathComponent("program").path
      try FileManager.default.copyItem(
        at: Toolchain.package.appendingPathComponent("Tests/Data/Faces/OneClass.swift.txt"),
        to: source)
      let modules = ["Forwarding", "Invocations", "TypeEncodings", "CForwardingShims"]
      let compiled = try run(
        swiftc,
        [
          "-O", "-whole-module-optimization", "-swift-version", "6", source.path, "-o", program,
        ] + Toolchain.moduleOptions + Toolchain.macroOptions
          + Toolchain.linkOptions(for: modules))
      try #require(compiled.status == 0, "\(compiled.errors)")
      let finished = try run(program, [])
      #expect(finished.status == 0)
      #expect(
        finished.output.split(separator: "\n") == [
          "hear [\"hello\"]", "see 1", "smell 42", "think 13", "hear more twice", "more 42",
        ])
    }
  }
#endif
