// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation
import Testing

@Suite("Types that trap for some bytes")
struct TrappingTypeTests {
  /// Why messages with a type are refused, as an argument and as a result; nil if they are not.
  private func refusal<Value: Sendable>(_ type: Value.Type) throws -> InterfaceError.Refusal? {
    var interface = Interface("trapping")
    let take = try Message<NoResult, Value>("take:")
    let give = try Message<Value>("give")
    do {
      try interface.allow(take)
    } catch InterfaceError.refused(_, _, _, let refusal) {
      #expect(throws: InterfaceError.self) { try interface.allow(give) }
      return refusal
    }
    try interface.allow(give)
    return nil
  }

  @Test("types of Foundation that trap for some bytes are refused, and collections of them")
  func trapping() throws {
    var refusals: [InterfaceError.Refusal?] = []
    refusals.append(try refusal(IndexSet.self))
    refusals.append(try refusal(CharacterSet.self))
    refusals.append(try refusal(URLComponents.self))
    refusals.append(try refusal(DateInterval.self))
    refusals.append(try refusal(IndexSet?.self))
    refusals.append(try refusal([[IndexSet?]].self))
    refusals.append(try refusal(ContiguousArray<IndexSet>.self))
    refusals.append(try refusal(Set<IndexSet>.self))
    refusals.append(try refusal([String: IndexSet].self))
    refusals.append(try refusal([IndexSet: [Int]].self))
    #expect(refusals.allSatisfy { $0 == .traps }, "\(refusals)")
    #expect(try refusal([String: [Int?]].self) == nil)
    #expect(try refusal(Date.self) == nil)
  }
}
