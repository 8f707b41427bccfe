// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import CForwardingShims
import Forwarding

// Messages to one target and to many, calls from C, and signatures.
extension CoreRows {
  // MARK: Messages

  static func sends() throws -> [Benchmark] {
    let stored = "closure/call/stored"
    let keep = try Message<NoResult, Int>("keep:")
    let subject = Subject()
    let native = NativeSubject()
    let call = try keep.invocation(0)
    return [
      Benchmark("send/message/closure", over: stored) { count in
        for index in 0..<count { try keep(index, on: subject) }
      },
      Benchmark("send/message/c-function", over: stored) { count in
        for index in 0..<count { try keep(index, on: native) }
      },
      Benchmark("send/invocation/closure", over: stored) { count in
        for index in 0..<count {
          try call.setArgument(index, at: 2)
          try call.invoke(on: subject)
        }
      },
    ]
  }

  static func multicasts() throws -> [Benchmark] {
    let keep = try Message<NoResult, Int>("keep:")
    var rows: [Benchmark] = []
    for number in targetCounts {
      for (how, strongly, make) in [
        ("strong", true, { NativeSubject() as AnyObject }),
        ("weak", false, { NativeSubject() as AnyObject }),
        ("closures", true, { Subject() as AnyObject }),
        ("closures-weak", false, { Subject() as AnyObject }),
      ] {
        let targets = (0..<number).map { _ in make() }
        let proxy = MulticastProxy()
        for target in targets { proxy.add(target, strongly: strongly) }
        rows.append(
          Benchmark("multicast/\(how)/\(number)", over: "closure/array-strong/\(number)") { count in
            try withExtendedLifetime(targets) {
              for index in 0..<count { try keep(index, on: proxy) }
            }
          })
      }
    }
    return rows
  }

  // MARK: Calls from C

  static func doors() throws -> [Benchmark] {
    var rows: [Benchmark] = []
    for number in targetCounts {
      let targets = (0..<number).map { _ in NativeSubject() }
      let proxy = CountingProxy()
      for target in targets { proxy.add(target) }
      let door = try MessageCallback(to: proxy, strongly: true, selector: "keep:", encoding: "vq")
      let call = try unsafe door.function(as: (@convention(c) (Int) -> Void).self)
      rows.append(
        Benchmark("door/forward/\(number)", over: "closure/array-strong/\(number)") { count in
          withExtendedLifetime((door, targets)) { for index in 0..<count { call(index) } }
        })
    }
    rows.append(try trampoline())
    let subject = Subject()
    let callback = try unsafe Callback {
      (_: UnsafeMutableRawPointer?, _: UnsafeRawPointer?, _: UnsafeMutableRawPointer?) in
      subject.keep(1)
    }
    let call = try unsafe callback.function(
      as: (@convention(c) (
        UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeMutableRawPointer?
      ) -> Void).self)
    rows.append(
      Benchmark("callback/object/call", over: "closure/call/stored") { count in
        withExtendedLifetime(callback) { for _ in 0..<count { call(nil, nil, nil) } }
      })
    return rows
  }

  /// The cost of a callback before any Swift code runs: the trampoline, and a handler in C.
  private static func trampoline() throws -> Benchmark {
    // The plan of `v@:@`, which keeps no Swift object: three pointers, without a result.
    let pointer = FWDValue(
      size: 8, alignment: 8, kind: .pointer, first: .integer, second: .none, component: .nothing,
      component_count: 0)
    let nothing = FWDValue(
      size: 0, alignment: 1, kind: .nothing, first: .none, second: .none, component: .nothing,
      component_count: 0)
    let values = [nothing, pointer, pointer, pointer]
    var plan: OpaquePointer?
    var index = 0
    var code: UnsafeRawPointer?
    var error: Int32 = 0
    let handler = unsafe unsafeBitCast(subject_handler(), to: FWDCallbackHandler.self)
    guard unsafe fwd_plan_create(values, 3, 3, &plan, &index) == .ok, let plan = unsafe plan,
      unsafe fwd_callback_create(
        plan, handler, UnsafeMutableRawPointer(plan), { _ in }, &code, &error) != nil,
      let code = unsafe code
    else { throw InvocationError.outOfMemory }
    let call = unsafe unsafeBitCast(
      code,
      to: (@convention(c) (
        UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeMutableRawPointer?
      ) -> Void).self)
    return Benchmark("trampoline/object/call", over: "closure/call/stored") { count in
      for _ in 0..<count { call(nil, nil, nil) }
    }
  }

  // MARK: Signatures

  static func signatures() -> [Benchmark] {
    let text = "v@:@iid"
    return [
      Benchmark("parse/method/cold", over: "closure/call/stored") { count in
        var total = 0
        for _ in 0..<count { total &+= try MethodSignature(parsing: text).numberOfArguments }
        subject_use(Int64(total))
      }
    ]
  }
}
