// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Looks up how objects of a class answer a selector, and caches the result so that sends on all
// threads find it without a lock.
extension MethodTable {
  /// The table of a class, and its method for the selector. The method is nil if the object must be
  /// asked, because it may have methods of its own, or forward.
  static func find(_ type: AnyClass, _ selector: Selector) -> (MethodTable, Implementation?) {
    if let known = known(type, selector) { return known }
    let table = MethodTable.of(type)
    // Read before the lookup, so that a change in between keeps the result out of the cache.
    let epoch = fwd_method_epoch(selector.word)
    let method = table.providing == nil ? table.resolved(selector) : nil
    // A C function that does not take objects of the class is refused at every send, so it is not
    // cached.
    if method?.takes(type) ?? true { remember(table, selector, method, epoch) }
    return (table, method)
  }

  /// Whether objects of a class answer a selector, if the class alone decides that and the lookup
  /// is cached; nil if not. Takes no lock.
  static func knowsAnswer(_ type: AnyClass, _ selector: Selector) -> Bool? {
    guard let (table, method) = known(type, selector), table.forwarding == nil,
      table.providing == nil
    else { return nil }
    return method != nil
  }

  private static func known(
    _ type: AnyClass, _ selector: Selector
  ) -> (MethodTable, Implementation?)? {
    let word = UInt(bitPattern: ObjectIdentifier(type))
    guard let thread = unsafe fwd_thread(),
      let method = unsafe fwd_method_hold(thread, word, selector.word)
    else { return nil }
    defer { unsafe fwd_let_go(thread) }
    guard let address = unsafe method.pointee.table else { return nil }
    // SAFETY: a table is never freed.
    let table = unsafe Unmanaged<MethodTable>.fromOpaque(address).takeUnretainedValue()
    let implementation = unsafe method.pointee.implementation.map {
      unsafe Unmanaged<Implementation>.fromOpaque($0).takeUnretainedValue()
    }
    return (table, implementation)
  }

  private static func remember(
    _ table: MethodTable, _ selector: Selector, _ method: Implementation?, _ epoch: UInt64
  ) {
    var entry = unsafe FWDMethod()
    unsafe entry.type = UInt(bitPattern: ObjectIdentifier(table.type))
    unsafe entry.selector = selector.word
    // A table is never freed.
    unsafe entry.table = UnsafeRawPointer(Unmanaged.passUnretained(table).toOpaque())
    if let method {
      unsafe entry.plan = method.plan.facts.pointee.identity
      unsafe entry.implementation = UnsafeRawPointer(Unmanaged.passUnretained(method).toOpaque())
      if let function = method.function {
        unsafe entry.function = function.address
        unsafe entry.returns_retained = function.returnsRetained ? 1 : 0
      }
      unsafe entry.is_light = method.plan.facts.pointee.is_light
    }
    unsafe fwd_method_remember(entry, epoch)
    withExtendedLifetime(method) {}
  }

  /// The method that an object of this class has for a selector. Its own methods come first.
  /// Returns nil for a class whose objects have no methods of their own.
  func ownOrClassMethod(of object: BorrowedObject, for selector: Selector) -> Implementation? {
    guard let providing else { return nil }
    return object.ownMethod(for: selector, as: providing) ?? resolved(selector)
  }
}
