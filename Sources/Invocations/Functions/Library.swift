// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

import Glibc

/// A loaded library, which is closed when this object dies. A registered function retains its
/// library.
///
/// ```swift
/// let math = try Library("libm.so.6")
/// try unsafe functions.register("cos", encoding: "dd", unsafeSymbolIn: math)
/// try functions.call("cos", 0.0, returning: Double.self)  // 1.0
/// try unsafe Library("").address(of: "cosinus")  // throws: 'the program' has no symbol 'cosinus'
/// ```
@safe
public final class Library: Sendable {
  /// The path or name that was opened; empty for the program itself.
  public let path: String

  // SAFETY: opened in `init`, closed in `deinit`; the loader locks its own calls.
  private nonisolated(unsafe) let handle: UnsafeMutableRawPointer

  /// Opens a library by its path, or by a name such as `libm.so.6` that the loader searches for. An
  /// empty path opens the program itself, with all libraries that it has loaded.
  ///
  /// - Throws: ``InvocationError/libraryNotFound(path:reason:)``.
  public convenience init(_ path: String) throws(InvocationError) {
    try self.init(path, staysOpen: false)
  }

  /// Opens a library, which stays open for the life of the program if `staysOpen` is true.
  init(_ path: String, staysOpen: Bool) throws(InvocationError) {
    // A NUL would cut the path, and open another library.
    guard !path.utf8.contains(0) else {
      throw .libraryNotFound(path: path, reason: "the path contains a NUL")
    }
    let mode = staysOpen ? RTLD_NOW | RTLD_NODELETE : RTLD_NOW
    let opened = unsafe path.isEmpty ? dlopen(nil, mode) : dlopen(path, mode)
    guard let opened = unsafe opened else {
      var reason = Self.lastError
      if path.hasSuffix(".so"), reason.hasSuffix("invalid ELF header") {
        // A text for the linker, which has the name without a version.
        reason += "; it may be a linker script: add the version, as in 'libm.so.6'"
      }
      throw .libraryNotFound(path: path, reason: reason)
    }
    self.path = path
    unsafe handle = opened
  }

  deinit { unsafe dlclose(handle) }

  /// The address of a symbol.
  ///
  /// - Throws: ``InvocationError/symbolNotFound(symbols:library:file:)``.
  public func address(of symbol: String) throws(InvocationError) -> UnsafeRawPointer {
    guard let found = unsafe find(symbol) else { throw notFound([symbol]) }
    return unsafe found
  }

  /// The address of a symbol, or nil.
  func find(_ symbol: String) -> UnsafeRawPointer? {
    // A NUL would cut the name, and find another symbol.
    symbol.utf8.contains(0) ? nil : unsafe UnsafeRawPointer(dlsym(handle, symbol))
  }

  /// The error that the library lacks these symbols.
  func notFound(_ symbols: [String]) -> InvocationError {
    let file = unsafe fwd_library_file(handle).map { unsafe String(cString: $0) }
    return .symbolNotFound(
      symbols: symbols, library: path.isEmpty ? "the program" : path,
      file: file == path ? nil : file)
  }

  private static var lastError: String {
    unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
  }
}
