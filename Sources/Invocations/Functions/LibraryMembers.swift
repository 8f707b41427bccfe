// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Loads a structure whose members are functions of a library. The code of `@CLibrary` has one for
/// each structure.
@_documentation(visibility: internal)
public final class _LibraryMembers<Members: Sendable>: Sendable {
  private final class Loaded: Sendable {
    let members: Members

    init(_ members: Members) { self.members = members }
  }

  private let path: String
  private let required: [String]
  private let members: @Sendable (Library) throws(InvocationError) -> Members
  private let first = AtomicLazyReference<Loaded>()

  /// Makes what loads the members from the library at a path, where all required symbols must be.
  public init(
    of path: String, _ required: [String],
    _ members: @escaping @Sendable (Library) throws(InvocationError) -> Members
  ) {
    (self.path, self.required, self.members) = (path, required, members)
  }

  /// Opens the library for the life of the program: nobody knows the last copy of a member.
  @unsafe
  public func load() throws(InvocationError) -> Members {
    let library = try Library(path, staysOpen: true)
    let missing = required.filter { unsafe library.find($0) == nil }
    if !missing.isEmpty { throw library.notFound(missing) }
    return try members(library)
  }

  /// The members that were loaded first. An error is not kept.
  @unsafe
  public func shared() throws(InvocationError) -> Members {
    if let known = first.load() { return known.members }
    return try unsafe first.storeIfNil(Loaded(load())).members
  }
}

extension Library {
  /// A symbol as a function pointer of C, or nil if there is no such symbol.
  ///
  /// - Safety: the symbol must be a function of this type, and the library must stay open.
  @_documentation(visibility: internal)
  @unsafe
  public func _function<Function: BitwiseCopyable & Sendable>(
    _ symbol: String
  ) throws(InvocationError) -> Function? {
    let (word, size) = (MemoryLayout<Int>.size, MemoryLayout<Function>.size)
    guard size == word else { throw .wrongSize(expected: word, given: size) }
    guard let found = unsafe find(symbol) else { return nil }
    return unsafe unsafeBitCast(found, to: Function.self)
  }
}
