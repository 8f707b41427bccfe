// SPDX-License-Identifier: Apache-2.0
import Dispatch

extension DeliveryJob {
  /// Starts the job in the lane of a registration, after the jobs started there before.
  ///
  /// - Parameter suspends: whether the method is `async`, or may be.
  func start(in outlet: LaneOutlet, suspends: Bool) {
    if suspends { prepareToSuspend() }
    switch outlet {
    case .none: perform()
    case .queue(let outlet):
      if suspends {
        attach(
          Task(executorPreference: QueueExecutor(outlet.queue)) { await self.performAwaiting() })
      } else {
        outlet.queue.async { self.perform() }
      }
    case .actor(let actor, let order):
      order.run(LaneJob(job: self, suspends: suspends), on: actor)
    case .executor(let executor, let order):
      order.run(LaneJob(job: self, suspends: suspends), on: executor)
    }
  }
}
