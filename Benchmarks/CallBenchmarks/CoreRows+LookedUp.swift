// SPDX-License-Identifier: Apache-2.0
import Forwarding

// The calls of `invoke/three` and `object/three` in their usual form: the invocation finds the
// Swift method of its target itself, where those rows pass the address of a C function. The page
// compares both with an `NSInvocation`, which finds the method as well.
extension CoreRows {
  static func lookedUp() throws -> [Benchmark] {
    let stored = "closure/call/stored"
    let selector: Selector = "keepA:b:c:"
    try MethodTable.of(Subject.self).register(selector, replacing: true) {
      (subject: Subject, a: Int, b: Int32, c: Int) in
      subject.keep(a)
    }
    let plan = try CallPlan.shared(for: MethodSignature("v@:qiq"))
    let subject = Subject()
    let kept = Invocation(plan)
    try kept.setSelector(selector)
    try kept.setTarget(subject)
    return [
      Benchmark("invoke/three-method/set3", over: stored) { count in
        for index in 0..<count {
          try kept.setArgument(index, at: 2)
          try kept.setArgument(Int32(7), at: 3)
          try kept.setArgument(index, at: 4)
          try kept.invoke()
        }
      },
      Benchmark("object/three-method/create-set3", over: stored) { count in
        for index in 0..<count {
          let call = Invocation(plan)
          try call.setSelector(selector)
          try call.setArgument(index, at: 2)
          try call.setArgument(Int32(7), at: 3)
          try call.setArgument(index, at: 4)
          try call.invoke(on: subject)
        }
      },
    ]
  }
}
