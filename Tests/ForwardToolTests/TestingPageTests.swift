// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("The page on tests")
struct TestingPageTests {
  @Test("the page begins with a file of this package's tests")
  func file() throws {
    let files = try ExampleSources.package(of: "Documentation/Testing.md")
    #expect(files.count == 1)
    for (path, example) in files {
      // The file has contents only with the trait, and begins with its licence.
      let lines = try ExampleSources.lines(path).filter {
        !$0.hasPrefix("#") && !$0.hasPrefix("// SPDX")
      }.map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : $0 }
      #expect(example.code == lines.dropLast(where: \.isEmpty))
    }
  }

  @Test(
    "the tool, which uses a spy, links no test library",
    .notEmulated("ldd starts a loader of the other machine"))
  func toolWithoutTestLibrary() throws {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let tool = URL(fileURLWithPath: own).deletingLastPathComponent()
      .appendingPathComponent("forward").path
    let libraries = try run("/usr/bin/env", ["ldd", tool])
    #expect(libraries.status == 0)
    #expect(libraries.output.contains("libswiftCore"))
    #expect(!libraries.output.contains(/libTesting|libXCTest|lib_Testing/))
  }
}

extension Array {
  /// The array without its last elements that satisfy a predicate.
  fileprivate func dropLast(where drops: (Element) -> Bool) -> [Element] {
    var rest = self
    while let last = rest.last, drops(last) { rest.removeLast() }
    return rest
  }
}
