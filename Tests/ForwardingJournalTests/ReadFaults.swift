// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Glibc

/// A disk with unreadable bytes, for the thread that sets it up, until that thread ends.
///
/// The system notifies another thread before each `pread`. This thread performs the read: up to the
/// first unreadable byte, as a disk does, or only a few bytes at a time.
enum ReadFaults {
  /// Makes reads of these bytes of files fail from now on, and others short.
  static func refuse(_ bad: Range<Int>, atMost: Int = .max) {
    // The thread is started before the filter is installed. Otherwise it would inherit the filter
    // and wait for itself.
    let (begin, place) = (DispatchSemaphore(value: 0), Place())
    Thread {
      begin.wait()
      let listener = place.listener
      while let call = receive(listener) {
        let (offset, count) = (Int(call.arguments[3]), Int(call.arguments[2]))
        let good =
          offset < bad.lowerBound ? bad.lowerBound - offset : bad.contains(offset) ? 0 : .max
        let most = min(count, good, atMost)
        // If the file ends before the unreadable bytes, they are not requested.
        var answer: Int64 = 0
        if most > 0 || bad.isEmpty {
          let memory = UnsafeMutableRawPointer(bitPattern: UInt(call.arguments[1]))
          answer = Int64(pread(Int32(call.arguments[0]), memory, most, offset))
        } else {
          answer = -Int64(EIO)
        }
        send(listener, call.id, answer)
      }
    }.start()
    place.listener = listen(toCalls: TestMachine.numberOfRead)
    begin.signal()
  }

  private final class Place: @unchecked Sendable { var listener: Int32 = -1 }

  private struct Asked {
    var id: UInt64
    var arguments: [UInt64]
  }

  // Swift does not import these functions, because they are variadic.
  private typealias Call = @convention(c) (Int, UInt, UInt, UnsafeRawPointer?) -> Int
  private typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
  private typealias Ask = @convention(c) (Int32, UInt, UnsafeMutableRawPointer) -> Int32
  private static func function<Function>(_ name: String, as type: Function.Type) -> Function {
    unsafeBitCast(dlsym(nil, name), to: type)
  }

  private static func listen(toCalls number: UInt32) -> Int32 {
    // Load the number of the call; if it is `number`, notify the listener, otherwise allow the
    // call.
    let filter: [UInt64] = [
      0x20, 0x15 | 1 << 24 | UInt64(number) << 32, 0x06 | 0x7FC0_0000 << 32,
      0x06 | 0x7FFF_0000 << 32,
    ]
    let control = function("prctl", as: Control.self)
    require(control(38, 1, 0, 0, 0) == 0, "no filter is allowed")
    let listener = filter.withUnsafeBufferPointer { filter in
      let program: [UInt] = [UInt(filter.count), UInt(bitPattern: filter.baseAddress)]
      return program.withUnsafeBufferPointer {
        function("syscall", as: Call.self)(TestMachine.numberOfFilter, 1, 8, $0.baseAddress)
      }
    }
    require(listener >= 0, "no filter is allowed")
    return Int32(listener)
  }

  private static func receive(_ listener: Int32) -> Asked? {
    var words = [UInt64](repeating: 0, count: 10)
    let result = function("ioctl", as: Ask.self)(listener, 0xC050_2100, &words)
    return result == 0 ? Asked(id: words[0], arguments: Array(words[4..<10])) : nil
  }

  private static func send(_ listener: Int32, _ id: UInt64, _ answer: Int64) {
    let error = UInt64(UInt32(bitPattern: Int32(min(0, answer))))
    var words: [UInt64] = [id, UInt64(bitPattern: max(0, answer)), error]
    _ = function("ioctl", as: Ask.self)(listener, 0xC018_2101, &words)
  }
}
