// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Invocations

@Suite("The parts of Swift's runtime that the package relies on")
struct SwiftRuntimeTests {
  @Test("this toolchain passes all probes")
  func all() {
    for probe in SwiftRuntime.probes + [SwiftRuntime.search, SwiftRuntime.queues] {
      #expect(probe.passes(), "\(probe.name)")
    }
  }

  @Test("another runtime ends the program with a sentence that names the toolchain")
  func other() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      SwiftRuntime.check([SwiftRuntime.search, .init("told wrong things") { false }])
    }
    let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(said.contains("does not know the runtime of this toolchain, Swift 6."), "\(said)")
    #expect(said.contains("told wrong things are not as they were"), "\(said)")
  }
}
