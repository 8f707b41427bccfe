// SPDX-License-Identifier: Apache-2.0
import CallBenchmarks
import Foundation
import PeerC

#if HAS_GNUSTEP
  import PeerGNUstep
#endif
#if HAS_GOBJECT
  import PeerGObject
#endif
#if HAS_BOOST
  import PeerBoost
#endif
#if HAS_QT
  import PeerQt
#endif
#if HAS_SQLITE
  import PeerSQLite
#endif

/// Other libraries, measured in the same process.
enum Peers {
  /// The rows of the installed peers.
  static func rows() throws -> [Benchmark] {
    try libffi() + swift() + gnustep() + signals() + sockets() + nats() + sqlite()
  }

  /// A line for each peer that is not installed.
  static var missing: [String] {
    var missing: [String] = []
    func note(_ name: String, _ package: String) {
      missing.append("\(name) is not installed, so its rows are left out (Debian: \(package))")
    }
    #if !HAS_GNUSTEP
      note("GNUstep", "gobjc libgnustep-base-dev")
    #endif
    #if !HAS_GOBJECT
      note("GObject", "libglib2.0-dev")
    #endif
    #if !HAS_BOOST
      note("Boost.Signals2", "libboost-dev")
    #endif
    #if !HAS_QT
      note("Qt", "qtbase5-dev")
    #endif
    #if !HAS_SQLITE
      note("SQLite", "libsqlite3-dev")
    #endif
    #if !HAS_BUS
      note("sd-bus", "libsystemd-dev")
    #endif
    #if !HAS_NATS
      note("NATS", "libnats-dev nats-server")
    #endif
    return missing
  }

  private static func libffi() -> [Benchmark] {
    let stored = "closure/call/stored"
    return [
      Benchmark("ffi/object/call", over: stored) { peer_ffi_object($0) },
      Benchmark("ffi/three/set3", over: stored) { peer_ffi_three($0) },
      Benchmark("ffi/integers/set2-result", over: stored) { peer_ffi_integers($0) },
      Benchmark("ffi/doubles/set2-result", over: stored) { peer_ffi_doubles($0) },
      Benchmark("ffi/rectangle/set-result", over: stored) { peer_ffi_rectangle($0) },
      Benchmark("ffi/ten/set1-result", over: stored) { peer_ffi_ten($0) },
      Benchmark("ffi/closure/call", over: stored) { peer_ffi_closure($0) },
      Benchmark("ffi/closure/three", over: stored) { peer_ffi_closure_three($0) },
    ]
  }

  private static func swift() -> [Benchmark] {
    let array = "closure/array-strong/16"
    let center = NotificationCenter()
    let name = Notification.Name("kept")
    let receivers = (0..<16).map { _ in Receiver() }
    let tokens = receivers.map { receiver in
      center.addObserver(forName: name, object: nil, queue: nil) { _ in receiver.keep(1) }
    }
    // An object and a structure, as in the rows `value/…`.
    let spoken = Notification.Name("spoken")
    let said: [AnyHashable: Any] = ["message": Spoken()]
    let listening = receivers.map { receiver in
      center.addObserver(forName: spoken, object: nil, queue: nil) { [weak receiver] note in
        if let message = note.userInfo?["message"] as? Spoken { receiver?.keep(message.number) }
      }
    }
    let delegates = MulticastDelegate()
    for receiver in receivers { delegates.add(receiver) }
    return [
      Benchmark("corelibs/notify/16", over: array) { count in
        withExtendedLifetime(tokens) {
          for _ in 0..<count { center.post(name: name, object: nil) }
        }
      },
      Benchmark("corelibs/notify-values/16", over: "value/weak-boxes/16") { count in
        withExtendedLifetime(listening) {
          for _ in 0..<count { center.post(name: spoken, object: receivers[0], userInfo: said) }
        }
      },
      Benchmark("delegate/weak-boxes/16", over: array) { count in
        withExtendedLifetime(receivers) {
          for index in 0..<count {
            delegates.invoke { (receiver: any Keeping) in receiver.keep(index) }
          }
        }
      },
    ]
  }

  private static func sqlite() -> [Benchmark] {
    #if HAS_SQLITE
      return [
        Benchmark("sqlite/wal-full/insert-16", over: "journal/sync/bare-16") { count in
          guard peer_sqlite_insert(16 * count) == 1 else { throw CocoaError(.fileWriteUnknown) }
        }
      ]
    #else
      return []
    #endif
  }

  private static func gnustep() -> [Benchmark] {
    #if HAS_GNUSTEP
      peer_gnustep_begin()
      let stored = "closure/call/stored"
      return [
        Benchmark("gnustep/object/invoke", over: stored) { peer_gnustep_invoke($0) },
        Benchmark("gnustep/three/set3", over: stored) { peer_gnustep_set3($0) },
        Benchmark("gnustep/three/create-set3", over: stored) { peer_gnustep_create($0) },
        Benchmark("gnustep/parse/method", over: stored) { peer_gnustep_parse($0) },
        Benchmark("gnustep/notify/16", over: "closure/array-strong/16") {
          peer_gnustep_notify(16, $0)
        },
      ]
        + CoreRows.targetCounts.map { number in
          Benchmark("gnustep/forward/\(number)", over: "closure/array-strong/\(number)") {
            peer_gnustep_forward(Int32(number), $0)
          }
        }
    #else
      return []
    #endif
  }

  private static func signals() -> [Benchmark] {
    let array = "closure/array-strong/16"
    var rows: [Benchmark] = []
    #if HAS_BOOST
      rows += [
        Benchmark("boost/signal/16", over: array) { peer_boost_signal(16, $0) },
        Benchmark("boost/tracked/16", over: array) { peer_boost_tracked(16, $0) },
        Benchmark("weak-ptr/call/16", over: array) { peer_weak_pointers(16, $0) },
      ]
    #endif
    #if HAS_QT
      rows.append(Benchmark("qt/emit/16", over: array) { peer_qt_emit(16, $0) })
    #endif
    #if HAS_GOBJECT
      rows.append(Benchmark("gobject/emit/16", over: array) { peer_gobject_emit(16, $0) })
    #endif
    return rows
  }
}

/// A receiver for Swift's own ways of calling.
protocol Keeping: AnyObject {
  func keep(_ value: Int)
}

final class Receiver: Keeping, @unchecked Sendable {
  private var word = 0
  @inline(never)
  func keep(_ value: Int) { word = value }
}

/// The usual hand-written multicast delegate: weak boxes, and a closure for each call.
final class MulticastDelegate {
  private struct Box { weak var object: AnyObject? }
  private var boxes: [Box] = []

  func add(_ object: AnyObject) { boxes.append(Box(object: object)) }

  func invoke<Delegate>(_ body: (Delegate) -> Void) {
    for box in boxes {
      if let delegate = box.object as? Delegate { body(delegate) }
    }
  }
}

/// The structure that a notification carries.
private struct Spoken {
  var text = "a text that is long enough"
  var number = 3
  var parts = [1, 2, 3]
}
