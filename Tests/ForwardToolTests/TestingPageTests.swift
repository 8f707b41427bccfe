import Foundation
import ForwardingTestSupport
import Testing

@Suite("The page on tests")
struct TestingPageTests {
  @Test("it begins with a file that the tests of this package have")
  func file() throws {
    let files = try ExampleSources.package(of: "Documentation/Testing.md")
    #expect(files.count == 1)
    for (path, example) in files {
      // The file is there with the trait alone.
      let lines = try ExampleSources.lines(path).filter { !$0.hasPrefix("#") }.map {
        $0.hasPrefix("  ") ? String($0.dropFirst(2)) : $0
      }
      #expect(example.code == lines.dropLast(where: \.isEmpty))
    }
  }

  @Test("no test library comes with the tool, which has a spy to show")
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
  /// Without the last elements that a closure says yes to.
  fileprivate func dropLast(where drops: (Element) -> Bool) -> [Element] {
    var rest = self
    while let last = rest.last, drops(last) { rest.removeLast() }
    return rest
  }
}
