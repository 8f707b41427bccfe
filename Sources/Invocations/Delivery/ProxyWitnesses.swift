// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The witness tables of one class for the protocols of a proxy, in a record that is never freed.
///
/// A value of a class-bound protocol has two words, an object and a table. A proxy calls targets
/// whose conformance it knows through them, without a message, while the methods that it made for
/// the class are in place.
@safe
package struct ProxyWitnesses: @unchecked Sendable {
  // SAFETY: a record is never freed. Its tables are read and withdrawn by atomic operations.
  let record: UnsafePointer<FWDWitnesses>

  @unsafe
  init(_ record: UnsafePointer<FWDWitnesses>) { unsafe self.record = record }

  /// Makes a record.
  ///
  /// - Parameters:
  ///   - proxy: the class of the proxy, or the type of the targets where there is no proxy.
  ///   - tables: at least one; 0 for one that is withdrawn.
  init(_ proxy: ObjectIdentifier, _ tables: [UInt], isIsolated: Bool = false) {
    let tables = unsafe tables.map { unsafe UnsafeRawPointer(bitPattern: $0) }
    unsafe record = tables.withUnsafeBufferPointer { tables in
      unsafe UnsafePointer(
        fwd_witnesses_make(
          unsafeBitCast(proxy, to: UnsafeRawPointer.self), tables.baseAddress.unsafelyUnwrapped,
          tables.count, isIsolated ? 1 : 0))
    }
  }

  func table(at index: Int) -> UInt {
    unsafe UInt(bitPattern: fwd_witnesses_table(record, index))
  }
}

/// The classes whose objects are called through witness tables: by proxies, and by multicasts of any class
/// or protocol without a proxy.
package enum WitnessRecords {
  /// One protocol of a proxy, and the witness table of a class for it.
  package struct Part: Sendable {
    fileprivate var table: UInt
    /// The proxy of the protocol.
    fileprivate var proxy = ObjectIdentifier(WitnessRecords.self)

    /// Reads the table of a value of a class-bound protocol. Returns nil for a value with more than
    /// one table.
    package init?<Value>(_ value: Value) {
      guard MemoryLayout<Value>.size == 2 * MemoryLayout<UInt>.size else { return nil }
      // SAFETY: a value of a protocol for objects is the object and the table.
      table = unsafe withUnsafeBytes(of: value) {
        unsafe $0.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
      }
    }

    /// What is the table of a value that is an object or in a box, see ``DirectValue``. Returns nil if the
    /// value is not made of the object and one table.
    fileprivate init?<Subject>(_ value: Subject, of object: AnyObject) {
      if object is ValueBox<Subject> {
        table = DirectValue.inBox
        return
      }
      let words = unsafe withUnsafeBytes(of: value) { bytes in
        unsafe Array(bytes.bindMemory(to: UInt.self))
      }
      let (first, type) = (ObjectIdentifier(object), ObjectIdentifier(type(of: object)))
      guard words.first == UInt(bitPattern: first) else { return nil }
      switch words.count {
      case 1: table = DirectValue.ofClass
      case 2: table = words[1]
      case DirectValue.openWords where words[3] == UInt(bitPattern: type): table = words[4]
      default: return nil
      }
    }
  }

  /// What is known of a class and a proxy, or a type of targets without a proxy.
  private struct Entry {
    /// Whether the class is prepared for the proxy.
    var isAdded = false
    /// nil if objects of the class only take messages.
    var witnesses: ProxyWitnesses?
    /// The protocol of the proxy, followed by the protocols that it inherits.
    var parts: [Part] = []
    /// Whether one of the protocols is isolated to an actor.
    var isIsolated = false
    /// The messages of the proxy's own protocol, when the class has its methods.
    var selectors: [Selector] = []
    /// The records of targets without a proxy, by their tables: two modules may each have a conformance.
    var records: [UInt: ProxyWitnesses] = [:]

    /// The parts with their current tables, which may be withdrawn.
    var current: [Part] {
      guard let witnesses else { return [] }
      return parts.enumerated().map { index, part in
        var part = part
        part.table = witnesses.table(at: index)
        return part
      }
    }
  }

  /// By the class of the targets, and by the proxy or the type of the targets.
  private static let entries = Guarded<[ObjectIdentifier: [ObjectIdentifier: Entry]]>([:])

  private static func entry(_ type: AnyClass, _ proxy: Any.Type) -> Entry? {
    entries.read { $0[ObjectIdentifier(type)]?[ObjectIdentifier(proxy)] }
  }

  private static func change<Result>(
    _ type: AnyClass, _ body: (inout [ObjectIdentifier: Entry]) -> Result
  ) -> Result {
    entries.withLockInPlace { body(&$0[ObjectIdentifier(type), default: [:]]) }
  }

  /// Whether a proxy has an entry for a class.
  package static func knows(_ type: AnyClass, _ proxy: AnyClass) -> Bool {
    entry(type, proxy)?.isAdded ?? false
  }

  /// The witness tables by which a proxy calls objects of a class; nil if it sends messages.
  package static func witnesses(of type: AnyClass, for proxy: AnyClass) -> ProxyWitnesses? {
    entry(type, proxy)?.witnesses
  }

  /// The record for a target without a proxy, which is an object or in a box; nil if the value has more
  /// than one table.
  package static func witnesses<Subject>(
    of value: Subject, _ object: AnyObject
  ) -> ProxyWitnesses? {
    guard let part = Part(value, of: object) else { return nil }
    if let known = entry(type(of: object), Subject.self)?.records[part.table] { return known }
    let subject = ObjectIdentifier(Subject.self)
    return change(type(of: object)) { entries in
      if let first = entries[subject]?.records[part.table] { return first }
      let record = ProxyWitnesses(subject, [part.table])
      entries[subject, default: Entry()].records[part.table] = record
      return record
    }
  }

  /// The value of an object for which there is such a record.
  package static func value<Subject>(of object: AnyObject, _ witnesses: ProxyWitnesses) -> Subject {
    withExtendedLifetime(object) {
      let address = unsafe Unmanaged.passUnretained(object).toOpaque()
      let table = unsafe fwd_witnesses_table(witnesses.record, 0)
      return unsafe DirectValue.make(
        of: FWDDirectTarget(object: address, table: table, retained: nil), address)
    }
  }

  /// Adds the entry of a proxy for a class.
  ///
  /// - Parameters:
  ///   - part: the proxy's own protocol; nil if objects of the class only take messages.
  ///   - isIsolated: whether the protocol is isolated to an actor.
  ///   - bases: the proxies of the inherited protocols, which must already have entries for the
  ///     class.
  package static func add(
    _ type: AnyClass, _ proxy: AnyClass, _ part: Part?, isIsolated: Bool, bases: [AnyClass]
  ) {
    change(type) { entries in
      let key = ObjectIdentifier(proxy)
      var entry = entries[key] ?? Entry()
      if entry.isAdded { return }
      entry.isAdded = true
      let inherited = bases.map { entries[ObjectIdentifier($0)] }
      if var part, inherited.allSatisfy({ $0?.witnesses != nil }) {
        part.proxy = key
        entry.parts = [part]
        for base in inherited { entry.parts += base?.current ?? [] }
        entry.isIsolated = isIsolated || inherited.contains { $0?.isIsolated ?? false }
        // A table that is withdrawn from the beginning comes last: a proxy asks for it where it does not
        // know the protocol of a requirement, and sends a message.
        entry.witnesses = ProxyWitnesses(
          key, entry.parts.map(\.table) + [0], isIsolated: entry.isIsolated)
      }
      entries[key] = entry
    }
    // The methods may have been made by now.
    withdrawStrange(of: type, proxy)
  }

  /// Notes that a class has the methods of a proxy.
  package static func note(_ selectors: [Selector], of proxy: AnyClass, for type: AnyClass) {
    change(type) { $0[ObjectIdentifier(proxy), default: Entry()].selectors = selectors }
    withdrawStrange(of: type, proxy)
  }

  /// A method that the class already had stays, so its requirements become messages.
  private static func withdrawStrange(of type: AnyClass, _ proxy: AnyClass) {
    guard let selectors = entry(type, proxy)?.selectors, let table = MethodTable.existing(type)
    else { return }
    withdraw(selectors.filter { table.own($0).map { !$0.isGenerated } ?? false }, of: type)
  }

  /// Withdraws the tables of protocols whose requirements include one of the selectors, because the
  /// class answers it with another method than the proxy made. These requirements are sent as
  /// messages.
  package static func withdraw(_ selectors: [Selector], of type: AnyClass) {
    if selectors.isEmpty { return }
    change(type) { entries in
      let replaced = entries.filter { $0.value.selectors.contains(where: selectors.contains) }
      for entry in entries.values {
        guard let witnesses = entry.witnesses else { continue }
        for (index, part) in entry.parts.enumerated() where replaced[part.proxy] != nil {
          unsafe fwd_witnesses_withdraw(UnsafeMutablePointer(mutating: witnesses.record), index)
        }
      }
    }
  }
}
