// SPDX-License-Identifier: Apache-2.0
// A philosopher who only thinks, and leaves all other tasks to helpers, on a timer.
import Dispatch
import Forwarding
import Invocations

final class Philosopher: ForwardingProxy {
  private var helpers: [Selector: AnyObject] = [:]

  func delegate(_ task: Selector, to helper: AnyObject) { helpers[task] = helper }

  override func forwardingTarget(for selector: Selector) -> AnyObject? { helpers[selector] }

  override func unrecognizedSelector(_ selector: Selector) throws {
    print("the philosopher has nobody to \(selector)")
  }
}

func helper(_ task: Selector, _ sentence: String) throws -> ClosureTarget {
  let helper = ClosureTarget()
  try helper.register(task) { () in print(sentence) }
  return helper
}

let philosopher = Philosopher()
let (bed, cook) = (
  try helper("sleep", "the bed does the sleeping"), try helper("eat", "the cook does the eating")
)
philosopher.delegate("sleep", to: bed)
philosopher.delegate("eat", to: cook)

/// A day of the philosopher: one task at each tick. Only its own queue accesses it.
final class Day: @unchecked Sendable {
  private let philosopher: Philosopher
  private var tasks: [Message<NoResult>]
  let over = DispatchSemaphore(value: 0)

  init(of philosopher: Philosopher, _ tasks: [Selector]) throws {
    self.philosopher = philosopher
    self.tasks = try tasks.map { try Message<NoResult>($0) }
  }

  func tick() {
    if tasks.isEmpty {
      over.signal()
      return
    }
    do { try tasks.removeFirst()(on: philosopher) } catch { print(error) }
  }
}

let day = try Day(of: philosopher, ["eat", "work", "sleep"])
let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "clock"))
timer.schedule(deadline: .now(), repeating: .milliseconds(10))
timer.setEventHandler { @Sendable [day] in day.tick() }
timer.resume()
day.over.wait()  // the cook does the eating, no helper works, the bed does the sleeping
timer.cancel()
