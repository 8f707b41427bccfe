// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The records with which a multicast reaches targets of any class or protocol, without a proxy: the
/// *witness table* is in the value itself.
///
/// A value of a class is one word, the object; one of a protocol for objects has the table as its
/// second word. There is one record for each type of targets and table, so no more than the program
/// has conformances.
package enum SubjectWitnesses {
  private struct Key: Hashable {
    let subject: ObjectIdentifier
    let table: UInt
  }

  private static let known = Guarded<[Key: ProxyWitnesses]>([:])

  /// The record for a value that is an object; nil if the value has more than the object and one table, or
  /// has them elsewhere.
  package static func of<Subject>(_ value: Subject, _ object: AnyObject) -> ProxyWitnesses? {
    let word = MemoryLayout<UInt>.size
    let hasTable = MemoryLayout<Subject>.size == 2 * word
    guard hasTable || MemoryLayout<Subject>.size == word else { return nil }
    // A class has no table. Any number but 0, which stands for a table that was withdrawn.
    let (first, table) = unsafe withUnsafeBytes(of: value) { words in
      unsafe (
        words.load(as: UInt.self), hasTable ? words.load(fromByteOffset: word, as: UInt.self) : 1
      )
    }
    guard first == UInt(bitPattern: ObjectIdentifier(object)) else { return nil }
    let key = Key(subject: ObjectIdentifier(Subject.self), table: table)
    if let witnesses = known.read({ $0[key] }) { return witnesses }
    return known.withLockInPlace { known in
      if let witnesses = known[key] { return witnesses }
      let witnesses = ProxyWitnesses(ObjectIdentifier(Subject.self), [table])
      known[key] = witnesses
      return witnesses
    }
  }

  /// The value of an object for which there is a record.
  package static func value<Subject>(of object: AnyObject, _ witnesses: ProxyWitnesses) -> Subject {
    // SAFETY: the record was made for a value of this type that consists of the object and the table, or
    // of the object alone.
    unsafe withUnsafeBytes(of: (object, witnesses.table(at: 0))) {
      unsafe $0.load(as: Subject.self)
    }
  }
}
