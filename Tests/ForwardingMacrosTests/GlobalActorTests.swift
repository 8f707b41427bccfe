// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ProxyProtocols
  import Forwarding
  import Testing

  @globalActor
  actor AudioActor {
    static let shared = AudioActor()
  }

  @Forwardable
  @AudioActor
  protocol AudioDelegate: AnyObject {
    func play(_ name: String)
    @Otherwise(0) var volume: Int { get }
  }

  @AudioActor
  private final class Player: AudioDelegate {
    private(set) var played: [String] = []
    let volume = 11
    func play(_ name: String) { played.append(name) }
  }

  @Suite("Protocols on a global actor")
  struct GlobalActorTests {
    @Test("the proxy and its targets are on the actor")
    @AudioActor
    func inPlace() throws {
      let delegates = Multicast<AudioDelegateProxy>()
      let player = Player()
      delegates.add(player, strongly: true)
      delegates.proxy.play("song")
      #expect(player.played == ["song"])
      #expect(delegates.proxy.volume == 11)
      #expect(try delegates.messages.volume.all() == [11])
    }

    @Test("a synchronous send from elsewhere is refused")
    @AudioActor
    func elsewhere() async {
      let delegates = Multicast<AudioDelegateProxy>()
      let player = Player()
      delegates.add(player, strongly: true)
      let untyped = delegates.untyped
      await MainActor.run {
        let play = ForwardingError.Context(selector: "play:", target: Player.self)
        _ = #expect(throws: ForwardingError.wrongIsolation(play, .lane)) {
          try Message<Void, String>("play:")("from elsewhere", on: untyped)
        }
      }
      #expect(player.played.isEmpty)
    }
  }
#endif
