// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation
import RemoteTestSupport
import Testing
@testable import ForwardingActors

/// Actors have no interface, which refuses these types for other calls.
@Suite("Values of actors that trap for some bytes")
struct TrappingValueTests {
  @Test("a value whose decoder may trap is neither sent nor decoded")
  func refused() throws {
    let nodes = try Nodes(.inProcess)
    defer { nodes.close() }
    let json = Array(#"{"indexes":[{"length":10,"location":9223372036854775807}]}"#.utf8)
    #expect(throws: InterfaceError.Refusal.traps) {
      try nodes.here.value([IndexSet].self, of: json)
    }
    #expect(throws: WireError.self) {
      try MessagingActorSystem.InvocationEncoder.json(IndexSet([1]), WireLimits())
    }
    #expect(try nodes.here.value([Int].self, of: Array("[1]".utf8)) == [1])
  }
}
