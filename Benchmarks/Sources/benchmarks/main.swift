import Forwarding

// A first look: a recorded call beside the closures it competes with, in one process, interleaved,
// the minimum of many rounds. Ratios survive a change of machine; nanoseconds do not.

final class Target {
  var sum = 0
}

/// Makes every receiver and value opaque to the optimizer.
@inline(never) func opaque<Value>(_ value: Value) -> Value { value }

final class Holder {
  var closure: (Int) -> Void
  init(_ closure: @escaping (Int) -> Void) { self.closure = closure }
}

func nanoseconds(_ rounds: Int, _ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  let elapsed = try clock.measure(body)
  let (seconds, attoseconds) = elapsed.components
  return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(rounds)
}

typealias NativeMethod = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?, Int) -> Void
let native: NativeMethod = { target, _, value in
  let target = Unmanaged<Target>.fromOpaque(target!)._withUnsafeGuaranteedRef { $0 }
  target.sum &+= value
}

let target = opaque(Target())
let holder = opaque(Holder { [target] in target.sum &+= $0 })
let call = try Invocation(MethodSignature("v@:q"), selector: "add:")
try call.setTarget(target)
let function = unsafeBitCast(native, to: UnsafeRawPointer.self)

let operations = 20_000
let rows: [(name: String, body: () throws -> Void)] = [
  ("call/add/closure-stored", { for index in 0..<operations { holder.closure(index) } }),
  (
    "call/add/invocation-set-and-invoke",
    {
      for index in 0..<operations {
        try call.setArgument(index, at: 2)
        try call.invoke(using: function)
      }
    }
  ),
]

var best = [Double](repeating: .infinity, count: rows.count)
for _ in 0..<200 {
  for (index, row) in rows.enumerated() {
    best[index] = min(best[index], try nanoseconds(operations, row.body))
  }
}
let baseline = best[0]
for (row, time) in zip(rows, best) {
  let ratio = (time / baseline * 100).rounded() / 100
  let name = row.name + String(repeating: " ", count: 40 - row.name.count)
  print("\(name)\((time * 100).rounded() / 100) ns   \(ratio) x a stored closure")
}
