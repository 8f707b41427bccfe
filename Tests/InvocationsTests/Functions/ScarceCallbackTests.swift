import CForwardingShims
import Foundation
import Testing

@testable import Invocations

@Suite("Callbacks where the system is short of something")
struct ScarceCallbackTests {
  /// Leaves no file descriptor to be opened, and gives the limit that was.
  @Sendable static func takeAllDescriptors() -> rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let next = dup(2)
    close(next)
    var none = rlimit(rlim_cur: rlim_t(next), rlim_max: limit.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
    return limit
  }

  @Test("without a file descriptor a callback is refused, and only for as long as that lasts")
  func descriptors() async {
    await #expect(processExitsWith: .success) {
      var limit = Self.takeAllDescriptors()
      let error = #expect(throws: InvocationError.self) { try Callback { () -> Int32 in 1 } }
      try #require(error == .callbackRefused(.tooManyOpenFiles))
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
      try #require(!maps.contains("rwxp"))
      let callback = try Callback { () -> Int32 in 42 }
      try #require(try callback.function(as: (@convention(c) () -> Int32).self)() == 42)
      try #require(fwd_callback_code() == .trampolines)
    }
  }
}
