// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ForwardingRemote

/// The shared budget of the duplicate windows of many objects.
@Suite("The duplicate windows of a process")
struct WindowRoomTests {
  private func key(_ number: Int) throws -> RemoteRequest.Key {
    let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    let bytes = [1, 0, 1, 0] + [UInt8](repeating: 9, count: 8) + digits + [0, 0, 1, 0]
    return try RemoteRequest(bytes).key(of: .thisProcess)
  }

  private func answer(_ count: Int) -> RemoteAnswer {
    RemoteAnswer(.answered, host: 1, body: [UInt8](repeating: 7, count: count)[...])
  }

  private func isNew(_ number: Int, in window: DuplicateWindow) throws -> Bool {
    if case .new = window.lookUpOrInsert(try key(number)) { true } else { false }
  }

  @Test("many objects share a budget of known calls, and each knows at least its last 256")
  func entries() throws {
    let room = DuplicateRoom(entries: 1000, bytes: 1 << 20)
    let windows = (0..<20).map { _ in DuplicateWindow(in: room) }
    for number in 0..<600 { for window in windows { #expect(try isNew(number, in: window)) } }
    #expect(room.left.entries == 0)
    for window in windows {
      for number in 600 - 256..<600 { #expect(try !isNew(number, in: window)) }
    }
    // The windows hold the budget and the minimum of each window.
    let known = try windows.reduce(0) { sum, window in
      try sum + (0..<600 - 256).reversed().prefix { try !isNew($0, in: window) }.count
    }
    #expect(known <= 1000)
  }

  @Test("answers are stored within the budget of bytes, and a call is known without its answer")
  func bytes() throws {
    let room = DuplicateRoom(entries: 1000, bytes: 10_000)
    let windows = (0..<4).map { _ in DuplicateWindow(in: room) }
    var kept = 0
    for window in windows {
      for number in 0..<10 {
        #expect(try isNew(number, in: window))
        window.keep(answer(1000), for: try key(number))
        switch window.lookUpOrInsert(try key(number)) {
        case .answered(let answer):
          kept += 1
          #expect(answer.body.count == 1000)
        case .begun: break
        case .new: Issue.record("the call would be performed again")
        }
      }
    }
    // The windows live until the budget is checked, as a released window returns its bytes.
    withExtendedLifetime(windows) { #expect(kept == 10 && room.left.bytes == 0) }
  }

  @Test("a window returns its share when it is released, and when its calls are replaced")
  func givenBack() throws {
    let room = DuplicateRoom(entries: 5000, bytes: 1 << 20)
    do {
      let window = DuplicateWindow(in: room)
      for number in 0..<10_000 {
        #expect(try isNew(number, in: window))
        window.keep(answer(100), for: try key(number))
        // A second answer to a call is not stored, and takes no share.
        window.keep(answer(100), for: try key(number))
      }
      #expect(room.left == (5000 - (4096 - 256), 1 << 20 - 4096 * 100))
      for number in 10_000 - 4096..<10_000 { #expect(try !isNew(number, in: window)) }
    }
    #expect(room.left == (5000, 1 << 20))
  }
}
