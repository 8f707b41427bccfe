// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import Testing

  /// Isolated to the main actor.
  @Forwardable
  @MainActor
  private protocol Showing: AnyObject {
    func show(_ text: String)
    @Otherwise(0) var height: Int { get }
  }

  @MainActor
  private final class Sign: Showing {
    let story: Story
    init(_ story: Story) { self.story = story }
    var height: Int {
      story.tell("height")
      return 10
    }
    func show(_ text: String) { story.tell("shows \(text)") }
  }

  @Suite("Isolated targets with a lane to a queue")
  struct IsolatedLaneTests {
    @Test("a target is not called on a queue that is not its actor's", arguments: ProxyWay.allCases)
    @MainActor
    func elsewhere(_ way: ProxyWay) {
      let (story, queue) = (Story(), DispatchQueue(label: "elsewhere"))
      let targets = Multicast<ShowingProxy>(way.untyped)
      story.listen(to: targets.untyped)
      targets.add(Sign(story), strongly: true, on: .queue(queue))
      targets.proxy.show("text")
      #expect(targets.proxy.height == 0)
      queue.sync {}
      let elsewhere = { (selector: Selector, remedy: IsolationRemedy) in
        let context = ForwardingError.Context(selector: selector, target: Sign.self)
        return "failed \(selector) \(ForwardingError.wrongIsolation(context, remedy))"
      }
      let told = story.take().filter { !$0.hasPrefix("unanswered") }
      #expect(told == [elsewhere("show:", .lane), elsewhere("height", .awaiting)])
    }

    @Test("a target is called on a queue that is its actor's", arguments: ProxyWay.allCases)
    @MainActor
    func mainQueue(_ way: ProxyWay) async {
      let (story, targets) = (Story(), Multicast<ShowingProxy>(way.untyped))
      story.listen(to: targets.untyped)
      targets.add(Sign(story), strongly: true, on: .queue(.main))
      targets.proxy.show("text")
      #expect(story.take() == [])
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
      }
      #expect(story.take() == ["shows text"])
    }
  }
#endif
