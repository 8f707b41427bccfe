// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  @Forwardable
  private protocol Shelf {
    mutating func put(_ item: Item?)
    @Otherwise(0) var count: Int { get }
  }

  /// Asks the proxy at its end.
  private final class Item {
    private let proxy: any Shelf
    init(_ proxy: any Shelf) { self.proxy = proxy }
    deinit { ReentrancyTests.asked.append(proxy.count) }
  }

  private struct Wood: Shelf {
    var item: Item?
    var count: Int { item == nil ? 0 : 1 }
    mutating func put(_ new: Item?) { item = new }
  }

  @Forwardable
  private protocol Napping: AnyObject {
    @Optional func nap()
  }

  private final class Sleeper: Napping {}

  @Forwardable
  private protocol Resting {
    @Optional @Otherwise(ReentrancyTests.number()) func rest() -> Int
    @Optional @Otherwise(ReentrancyTests.number()) var pause: Int { get }
  }

  private struct Idle: Resting {}

  private struct Awake: Resting {
    func rest() -> Int { 7 }
    var pause: Int { 7 }
  }

  @MainActor
  @Suite("User code in the middle of a call by a proxy", .serialized)
  struct ReentrancyTests {
    nonisolated(unsafe) fileprivate static var asked: [Int] = []
    nonisolated(unsafe) private static let naps = Multicast<NappingProxy>()

    /// A default value that calls an optional requirement of another proxy.
    nonisolated fileprivate static func number() -> Int {
      naps.proxy.nap()
      return -1
    }

    @Test("a part of a value that the value replaces may use the proxy in its deinit")
    func replacedPart() {
      let all = Multicast<ShelfProxy>()
      all.add(Wood())
      var proxy: any Shelf = all.proxy
      proxy.put(Item(proxy))
      proxy.put(nil)
      #expect(Self.asked == [0])
    }

    @Test("a default value that calls another optional requirement is no answer of a target")
    func defaultThatCalls() {
      let sleeper = Sleeper()
      Self.naps.add(sleeper)
      let source = DataSource<RestingProxy>()
      source.add(Idle())
      source.add(Awake())
      #expect(source.proxy.rest() == 7)
      #expect(source.proxy.pause == 7)
      withExtendedLifetime(sleeper) {}
    }
  }
#endif
