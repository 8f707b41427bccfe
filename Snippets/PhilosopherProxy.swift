// SPDX-License-Identifier: Apache-2.0
// Philosopher with a protocol in place of selectors: a proxy in front of a custom proxy, which has a
// helper for each task.
import Dispatch
import Forwarding
import Invocations

#if Macros
  @Forwardable
  protocol Life: AnyObject {
    @Optional func eat()
    @Optional func work()
    @Optional func sleep()
  }

  /// Thinks, and leaves all other tasks to helpers. Only the queue of the day accesses it.
  final class Philosopher: ForwardingProxy, @unchecked Sendable {
    private var helpers: [Selector: SingleTarget<LifeProxy>] = [:]

    func delegate(_ task: Selector, to helper: any Life) {
      let single = SingleTarget<LifeProxy>()
      single.setTarget(helper, strongly: true)
      helpers[task] = single
    }

    override func forwardingTarget(for selector: Selector) -> AnyObject? {
      unsafe helpers[selector]?.untyped
    }

    override func unrecognizedSelector(_ selector: Selector) throws {
      print("the philosopher has nobody to \(selector)")
    }
  }

  final class Bed: Life {
    func sleep() { print("the bed does the sleeping") }
  }

  final class Cook: Life {
    func eat() { print("the cook does the eating") }
  }

  let philosopher = Philosopher()
  philosopher.delegate("sleep", to: Bed())
  philosopher.delegate("eat", to: Cook())

  /// A day of the philosopher: one task at each tick.
  final class Day: @unchecked Sendable {
    private let life: any Life
    private var tasks: [(any Life) -> Void]
    let over = DispatchSemaphore(value: 0)

    init(of life: any Life, _ tasks: [(any Life) -> Void]) {
      (self.life, self.tasks) = (life, tasks)
    }

    func tick() {
      if tasks.isEmpty {
        over.signal()
        return
      }
      tasks.removeFirst()(life)
    }
  }

  let day = Day(
    of: LifeProxy(forwardingTo: philosopher), [{ $0.eat() }, { $0.work() }, { $0.sleep() }])
  let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "clock"))
  timer.schedule(deadline: .now(), repeating: .milliseconds(10))
  timer.setEventHandler { @Sendable [day] in day.tick() }
  timer.resume()
  day.over.wait()  // the cook does the eating, no helper works, the bed does the sleeping
  timer.cancel()
#endif
