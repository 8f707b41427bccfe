// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  // A protocol of this module is isolated to the main actor without an annotation.
  @Forwardable
  protocol PanelDelegate: AnyObject {
    func show(_ text: String)
    @Otherwise(0) func height(of text: String) -> Int
    func edit(_ text: inout String)
    @Optional func close()
    var title: String? { get set }
  }

  final class Panel: PanelDelegate {
    var shown: [String] = []
    var title: String?
    func show(_ text: String) { shown.append(text) }
    func height(of text: String) -> Int { text.count }
    func edit(_ text: inout String) { text += "!" }
  }

  @Forwardable
  nonisolated protocol AnywhereDelegate: AnyObject, Sendable {
    func tell(_ text: String)
  }

  nonisolated final class Anywhere: AnywhereDelegate, @unchecked Sendable {
    private(set) var told: [String] = []
    func tell(_ text: String) { told.append(text) }
  }

  @CLibrary("libm.so.6")
  struct Math {
    let cos: @convention(c) (Double) -> Double
  }

  @CLibrary("libm.so.6")
  nonisolated struct MathAnywhere {
    let cos: @convention(c) (Double) -> Double
  }

  @Suite("Proxies in a program on the main actor by default")
  struct MainActorProxyTests {
    @Test("a protocol without an annotation has a proxy on the main actor")
    func proxy() throws {
      let panels = Multicast<PanelDelegateProxy>()
      let panel = Panel()
      panels.add(panel, strongly: true)
      panels.proxy.show("text")
      panels.proxy.title = "title"
      var text = "edited"
      panels.proxy.edit(&text)
      panels.proxy.close()
      #expect(panel.shown == ["text"])
      #expect(panel.title == "title")
      #expect(text == "edited!")
      #expect(try panels.messages.heightOf.all("four") == [4])
    }

    @Test("a proxy on the main actor cannot be called from other isolation")
    func elsewhere() async {
      let panels = Multicast<PanelDelegateProxy>()
      let panel = Panel()
      panels.add(panel, strongly: true)
      let untyped = panels.untyped
      await Task.detached {
        let show = ForwardingError.Context(selector: "show:", target: Panel.self)
        _ = #expect(throws: ForwardingError.wrongIsolation(show, .lane)) {
          try Message<Void, String>("show:")("from elsewhere", on: untyped)
        }
      }.value
      #expect(panel.shown.isEmpty)
    }

    @Test("a nonisolated protocol has a proxy on no actor")
    func nonisolatedProtocol() async {
      let delegates = Multicast<AnywhereDelegateProxy>()
      let anywhere = Anywhere()
      delegates.add(anywhere, strongly: true)
      let proxy = delegates.proxy
      await Task.detached { proxy.tell("from elsewhere") }.value
      #expect(anywhere.told == ["from elsewhere"])
    }

    @Test("a C library is on no actor")
    func library() async throws {
      let cosines = try await Task.detached {
        try [Math.load().cos(0), Math.shared.cos(0), MathAnywhere.shared.cos(0)]
      }.value
      #expect(cosines == [1, 1, 1])
    }
  }
#endif
