// SPDX-License-Identifier: Apache-2.0
public import BenchmarkSubjects
import Forwarding
public import Invocations

/// The object that rows call: it has one word to write to.
final class Subject: CallObject, @unchecked Sendable {
  // SAFETY: rows run on one thread at a time; a row with two threads has a subject for each.
  /// The first stored property: C code writes to it as well.
  var word = 0

  /// Makes a subject.
  init() {}

  /// The work at the end of every Swift way of calling.
  @inline(__always)
  func keep(_ value: Int) { word = value }
}

/// The work behind a protocol.
protocol WordKeeping: AnyObject {
  func keepWord(_ value: Int)
}

extension Subject: WordKeeping {
  @inline(never)
  func keepWord(_ value: Int) { word = value }
}

/// A class whose method for `keep:` is a C function; ``Subject`` has a Swift closure.
final class NativeSubject: CallObject, @unchecked Sendable {
  /// The first stored property: C code writes to it as well.
  var word = 0

  /// Makes a subject.
  init() {}
}

/// The multicast proxy that a user would write to count messages.
final class CountingProxy: MulticastProxy, @unchecked Sendable {
  var passed = 0

  override func forward(_ invocation: Invocation) throws {
    passed &+= 1
    try super.forward(invocation)
  }
}

/// Stores a closure, as an observer does.
final class ClosureHolder {
  var closure: (Int) -> Void
  init(_ closure: @escaping (Int) -> Void) { self.closure = closure }
}

// With the names of the modules, because another package owns the protocols.
extension BenchmarkSubjects.SubjectRectangle: Invocations.CallStructure, Invocations.CallValue {
  public static var structure: VouchedStructure<SubjectRectangle> {
    // SAFETY: the C structure itself, of four numbers.
    unsafe VouchedStructure("{SubjectRectangle=dddd}")
  }
}

/// A target whose method writes nothing: threads that write to one object slow each other down in
/// every way of calling.
final class QuietSubject: CallObject, Sendable {}
