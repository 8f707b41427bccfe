import Dispatch

extension DeliveryJob {
  /// Starts in a lane other than the caller's, behind the jobs that were started there before.
  ///
  /// - Parameter suspends: whether the method is `async`, or may be.
  func start(in lane: DeliveryLane, _ registration: Registration, suspends: Bool) {
    if suspends { prepareToSuspend() }
    switch lane.kind {
    case .caller: perform()
    case .queue(let queue, _), .blocking(let queue, _):
      if suspends {
        attach(Task(executorPreference: QueueExecutor(queue)) { await self.performAwaiting() })
      } else {
        queue.async { self.perform() }
      }
    case .actor(let actor, _):
      registration.outlet.order.run(LaneJob(job: self, suspends: suspends), on: actor)
    case .executor(let executor, _):
      registration.outlet.order.run(
        LaneJob(job: self, suspends: suspends), on: executor)
    }
  }
}
