// SPDX-License-Identifier: Apache-2.0
import Forwarding

// Calls that are recorded once and repeated: the purpose of a stored `Invocation`.
extension CoreRows {
  static func recorded() throws -> [Benchmark] {
    let stored = "closure/call/stored"
    let keep = try Message<NoResult, Int>("keep:")
    let subject = Subject()
    let others = [Subject(), Subject()]
    let call = try keep.invocation(1)
    try call.setTarget(subject)
    let other = try keep.invocation(1)
    let native = NativeSubject()
    let nativeCall = try keep.invocation(1)
    try nativeCall.setTarget(native)
    return [
      Benchmark("send/recorded/invoke", over: stored) { count in
        for _ in 0..<count { try call.invoke() }
      },
      Benchmark("send/recorded/c-function", over: stored) { count in
        for _ in 0..<count { try nativeCall.invoke() }
      },
      Benchmark("send/recorded/invoke-on", over: stored) { count in
        for _ in 0..<count { try call.invoke(on: subject) }
      },
      // The invocation retains its target, so a change of target is measured, too.
      Benchmark("send/recorded/invoke-on-others", over: stored) { count in
        for index in 0..<count { try other.invoke(on: others[index & 1]) }
      },
    ]
  }
}
