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

/// The classes whose objects proxies call through witness tables.
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
  }

  private struct Key: Hashable {
    let type: ObjectIdentifier
    let proxy: ObjectIdentifier

    init(_ type: AnyClass, _ proxy: AnyClass) {
      self.type = ObjectIdentifier(type)
      self.proxy = ObjectIdentifier(proxy)
    }
  }

  private struct Entry {
    /// nil if objects of the class only take messages.
    var witnesses: ProxyWitnesses?
    /// The protocol of the proxy, followed by the protocols that it inherits.
    var parts: [Part] = []
    /// Whether one of the protocols is isolated to an actor.
    var isIsolated = false

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

  private struct State {
    var entries: [Key: Entry] = [:]
    /// The proxies that have an entry for a class.
    var proxies: [ObjectIdentifier: [AnyClass]] = [:]
    /// The messages of a proxy's own protocol, when the class has its methods.
    var selectors: [Key: [Selector]] = [:]
  }

  private static let state = Guarded(State())

  /// Whether a proxy has an entry for a class.
  package static func knows(_ type: AnyClass, _ proxy: AnyClass) -> Bool {
    state.read { $0.entries[Key(type, proxy)] != nil }
  }

  /// The witness tables by which a proxy calls objects of a class; nil if it sends messages.
  package static func witnesses(of type: AnyClass, for proxy: AnyClass) -> ProxyWitnesses? {
    state.read { $0.entries[Key(type, proxy)]?.witnesses }
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
    state.withLockInPlace { state in
      let key = Key(type, proxy)
      guard state.entries[key] == nil else { return }
      let inherited = bases.map { state.entries[Key(type, $0)] }
      var entry = Entry()
      if var part, inherited.allSatisfy({ $0?.witnesses != nil }) {
        part.proxy = key.proxy
        entry.parts = [part]
        for base in inherited { entry.parts += base?.current ?? [] }
        entry.isIsolated = isIsolated || inherited.contains { $0?.isIsolated ?? false }
        // A table that is withdrawn from the beginning comes last: a proxy asks for it where it does not
        // know the protocol of a requirement, and sends a message.
        entry.witnesses = ProxyWitnesses(
          key.proxy, entry.parts.map(\.table) + [0], isIsolated: entry.isIsolated)
      }
      state.entries[key] = entry
      state.proxies[key.type, default: []].append(proxy)
    }
    // The methods may have been made by now.
    withdrawStrange(of: type, proxy)
  }

  /// Notes that a class has the methods of a proxy.
  package static func note(_ selectors: [Selector], of proxy: AnyClass, for type: AnyClass) {
    state.withLockInPlace { $0.selectors[Key(type, proxy)] = selectors }
    withdrawStrange(of: type, proxy)
  }

  /// A method that the class already had stays, so its requirements become messages.
  private static func withdrawStrange(of type: AnyClass, _ proxy: AnyClass) {
    guard let selectors = state.read({ $0.selectors[Key(type, proxy)] }),
      let table = MethodTable.existing(type)
    else { return }
    withdraw(selectors.filter { table.own($0).map { !$0.isGenerated } ?? false }, of: type)
  }

  /// Withdraws the tables of protocols whose requirements include one of the selectors, because the
  /// class answers it with another method than the proxy made. These requirements are sent as
  /// messages.
  package static func withdraw(_ selectors: [Selector], of type: AnyClass) {
    if selectors.isEmpty { return }
    state.withLockInPlace { state in
      let proxies = state.proxies[ObjectIdentifier(type)] ?? []
      let replaced = proxies.filter { proxy in
        state.selectors[Key(type, proxy)]?.contains(where: selectors.contains) ?? false
      }.map { ObjectIdentifier($0) }
      for proxy in proxies {
        guard let entry = state.entries[Key(type, proxy)], let witnesses = entry.witnesses else {
          continue
        }
        for (index, part) in entry.parts.enumerated() where replaced.contains(part.proxy) {
          unsafe fwd_witnesses_withdraw(UnsafeMutablePointer(mutating: witnesses.record), index)
        }
      }
    }
  }
}
