// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The reason why the system has no code for another callback.
///
/// ```swift
/// var callback: Callback?
/// do {
///   callback = try Callback { (number: Int32) in number + 1 }
/// } catch .callbackRefused(.tooManyOpenFiles) {
///   print("close some files, and try again")
/// }
/// callback == nil  // false
/// ```
@nonexhaustive
public enum CallbackRefusal: Hashable, Sendable {
  /// The process, or the system, has reached its limit of open files. A later attempt may work.
  case tooManyOpenFiles
  /// Neither the program's own file nor libffi can provide code here.
  case notSupported
  /// Another system error.
  case system(errno: Int32)

  init(errno: Int32) {
    self =
      switch errno {
      case EMFILE, ENFILE: .tooManyOpenFiles
      case ENOTSUP: .notSupported
      default: .system(errno: errno)
      }
  }
}

extension CallbackRefusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooManyOpenFiles: "too many files are open"
    case .notSupported: "the system does not allow new machine code"
    case .system(let errno):
      unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    }
  }
}
