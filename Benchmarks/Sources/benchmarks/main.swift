import Forwarding

// Recorded calls beside the closures they compete with, in one process, interleaved, the minimum
// of many rounds. Ratios survive a change of machine; nanoseconds do not.

final class Target {
  var sum = 0
}

final class Holder {
  var closure: (Int) -> Void
  init(_ closure: @escaping (Int) -> Void) { self.closure = closure }
}

/// Makes receivers and closures opaque to the optimizer.
@inline(never) func opaque<Value>(_ value: Value) -> Value { value }

func nanoseconds(_ rounds: Int, _ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  let elapsed = try clock.measure(body)
  let (seconds, attoseconds) = elapsed.components
  return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(rounds)
}

/// One thing to time. Rows that differ in their last part may be compared, and nothing else may.
struct Row {
  let name: String
  let body: (Int) throws -> Void
}

typealias NativeMethod = @convention(c) (UnsafeRawPointer?, UnsafeRawPointer?, Int) -> Void

func rows() throws -> [Row] {
  let target = opaque(Target())
  let holder = opaque(Holder { [target] in target.sum = $0 })
  // The C side of a method: one store, so that dispatch is what is measured.
  let native: NativeMethod = { target, _, value in
    guard let target else { return }
    Unmanaged<Target>.fromOpaque(target)._withUnsafeGuaranteedRef { $0.sum = value }
  }
  let function = unsafeBitCast(native, to: UnsafeRawPointer.self)
  let call = try Invocation(MethodSignature("v@:q"), selector: "add:")
  try call.setTarget(target)
  try MethodTable.of(Target.self).register(
    "add:", encoding: "v@:q", unsafeFunction: function)
  let message = try Message<NoResult, Int>("add:")
  let targets = (0..<16).map { _ in Target() }
  let closures = opaque(targets.map { target in { (value: Int) in target.sum = value } })
  let proxy = MulticastProxy()
  for target in targets { try proxy.add(target) }
  return [
    Row(name: "call/1/closure-stored") { for index in 0..<$0 { holder.closure(index) } },
    Row(name: "call/1/invocation-invoke-using") {
      for _ in 0..<$0 { try call.invoke(using: function) }
    },
    Row(name: "call/1/invocation-set-and-invoke-using") {
      for index in 0..<$0 {
        try call.setArgument(index, at: 2)
        try call.invoke(using: function)
      }
    },
    Row(name: "call/1/invocation-set-and-send") {
      for index in 0..<$0 {
        try call.setArgument(index, at: 2)
        try call.invoke()
      }
    },
    Row(name: "call/1/message") { for index in 0..<$0 { try message(index, on: target) } },
    Row(name: "call/16/closure-array") {
      for index in 0..<$0 / 16 { for closure in closures { closure(index) } }
    },
    Row(name: "call/16/multicast-weak") {
      for index in 0..<$0 / 16 {
        try call.setArgument(index, at: 2)
        _ = try proxy.deliver(call)
      }
      _ = targets.count
    },
  ]
}

let all = try rows()
let operations = 16_000
var best = [Double](repeating: .infinity, count: all.count)
for _ in 0..<200 {
  for (index, row) in all.enumerated() {
    best[index] = min(best[index], try nanoseconds(operations) { try row.body(operations) })
  }
}
print("per target; x is the ratio to the closure in the same group")
var baseline = 1.0
for (row, time) in zip(all, best) {
  if row.name.contains("closure") { baseline = time }
  let name = row.name + String(repeating: " ", count: max(1, 42 - row.name.count))
  let ratio = (time / baseline * 100).rounded() / 100
  print("\(name)\((time * 100).rounded() / 100) ns   \(ratio) x")
}
