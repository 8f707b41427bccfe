// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A loaded library, which is closed when this object dies. A registered function retains its
/// library.
///
/// ```swift
/// let math = try Library("libm.so.6")
/// try unsafe functions.register("cos", encoding: "dd", unsafeSymbolIn: math)
/// try functions.call("cos", 0.0, returning: Double.self)  // 1.0
/// try unsafe math.address(of: "cosinus")  // throws: 'libm.so.6' has no symbol 'cosinus'
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
  public init(_ path: String) throws(InvocationError) {
    let opened = unsafe path.isEmpty ? dlopen(nil, RTLD_NOW) : dlopen(path, RTLD_NOW)
    guard let opened = unsafe opened else {
      throw .libraryNotFound(path: path, reason: Self.lastError)
    }
    self.path = path
    unsafe handle = opened
  }

  deinit { unsafe dlclose(handle) }

  /// The address of a symbol.
  ///
  /// - Throws: ``InvocationError/symbolNotFound(symbol:library:)``.
  public func address(of symbol: String) throws(InvocationError) -> UnsafeRawPointer {
    guard !symbol.utf8.contains(0), let found = unsafe dlsym(handle, symbol) else {
      throw .symbolNotFound(symbol: symbol, library: path.isEmpty ? "the program" : path)
    }
    return UnsafeRawPointer(found)
  }

  private static var lastError: String {
    unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
  }
}
