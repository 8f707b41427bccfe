// SPDX-License-Identifier: Apache-2.0
public import Synchronization

/// Loads a structure whose members are functions of a library. The code of `@CLibrary` has one for
/// each structure.
@_documentation(visibility: internal)
public final class _LibraryMembers<Members: Sendable>: Sendable {
  @usableFromInline
  final class Loaded: Sendable {
    @usableFromInline let members: Members

    init(_ members: Members) { self.members = members }
  }

  private let path: String
  private let required: [String]
  private let members: @Sendable (Library) throws(InvocationError) -> Members
  @usableFromInline let first = AtomicLazyReference<Loaded>()

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
  @inlinable @unsafe
  public func shared() throws(InvocationError) -> Members {
    if let known = first.load() { return known.members }
    return try unsafe loadFirst()
  }

  @usableFromInline
  @unsafe
  func loadFirst() throws(InvocationError) -> Members {
    try unsafe first.storeIfNil(Loaded(load())).members
  }
}

extension Library {
  /// A symbol as a function pointer of C, of the type of a member.
  ///
  /// - Safety: the symbol must be a function of this type, and the library must stay open.
  @_documentation(visibility: internal)
  @unsafe
  public func _function<Members, Function: BitwiseCopyable & Sendable>(
    _ symbol: String, _ member: KeyPath<Members, Function>
  ) throws(InvocationError) -> Function {
    guard let found: Function = try function(symbol) else { throw notFound([symbol]) }
    return found
  }

  /// The same for a symbol that may be missing.
  @_documentation(visibility: internal)
  @unsafe
  public func _optionalFunction<Members, Function: BitwiseCopyable & Sendable>(
    _ symbol: String, _ member: KeyPath<Members, Function?>
  ) throws(InvocationError) -> Function? { try function(symbol) }

  /// The members, for whose types the caller of `load` has vouched: they may be unsafe.
  @_documentation(visibility: internal)
  @unsafe
  public func _vouched<Members>(_ members: Members) -> Members { members }

  private func function<Function: BitwiseCopyable & Sendable>(
    _ symbol: String
  ) throws(InvocationError) -> Function? {
    guard MemoryLayout<Function>.size == MemoryLayout<Int>.size else {
      throw .notACFunction(SwiftType(Function.self))
    }
    guard let found = unsafe find(symbol) else { return nil }
    return unsafe unsafeBitCast(found, to: Function.self)
  }
}
