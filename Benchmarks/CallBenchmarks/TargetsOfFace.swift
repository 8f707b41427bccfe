// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Synchronization

/// The targets of a row of a face, whose classes have only methods that the face registered. A
/// method registered by hand under a selector of the face would stay, and the row would measure a
/// call that no user of a face makes.
struct TargetsOfFace<Face: ForwardingFace> {
  let all: [Face.__Target]

  /// Checks the classes of targets before they are added to anything, and has the face register
  /// their methods.
  init(_ targets: [Face.__Target]) throws(FaceRowError) {
    for target in targets {
      try FaceClasses.check(Self.type(of: target))
      Face.__prepare(target)
      FaceClasses.keep(Self.type(of: target))
    }
    all = targets
  }

  private static func type(of target: Face.__Target) -> AnyClass {
    Swift.type(of: Face.__object(of: target) ?? Face.__prepare(target))
  }

  /// Throws if a method has been replaced since.
  func check() throws(FaceRowError) {
    for target in all { try FaceClasses.check(Self.type(of: target)) }
  }
}

/// The reason that a row of a face is invalid.
enum FaceRowError: Error, Equatable, CustomStringConvertible {
  /// A method that no face registered.
  case byHand(String)
  /// A row whose targets were not checked.
  case unchecked(String)

  var description: String {
    switch self {
    case .byHand(let method):
      "\(method) was not made by a face: give the targets of faces a class of their own"
    case .unchecked(let row):
      "'\(row)' is a row of a face, and does not say which targets it has"
    }
  }
}

/// The methods that faces registered for the classes of their targets.
private enum FaceClasses {
  private static let made = Mutex<[ObjectIdentifier: [Selector: ObjectIdentifier]]>([:])

  private static func methods(of type: AnyClass) -> [Selector: ObjectIdentifier] {
    let table = MethodTable.of(type)
    var methods: [Selector: ObjectIdentifier] = [:]
    for selector in table.selectors {
      methods[selector] = table.own(selector).map { ObjectIdentifier($0) }
    }
    return methods
  }

  static func check(_ type: AnyClass) throws(FaceRowError) {
    let known = made.withLock { $0[ObjectIdentifier(type)] } ?? [:]
    for (selector, method) in methods(of: type) where known[selector] != method {
      throw .byHand("-[\(type) \(selector)]")
    }
  }

  static func keep(_ type: AnyClass) {
    let methods = methods(of: type)
    made.withLock { $0[ObjectIdentifier(type)] = methods }
  }
}

extension Benchmark {
  /// Describes a row of a face with its targets.
  init<Face: ForwardingFace>(
    _ name: String, over baseline: String? = nil, behind targets: TargetsOfFace<Face>,
    _ body: @escaping (Int) throws -> Void
  ) {
    self.init(name, over: baseline, body)
    check = { try targets.check() }
  }

  /// Throws if a row of a face has unchecked targets, or targets with methods registered by hand.
  static func checkFaces(_ rows: [Benchmark]) throws {
    for row in rows where row.isOfFace {
      guard let check = row.check else { throw FaceRowError.unchecked(row.name) }
      try check()
    }
  }

  /// Whether a part of the name is `face`.
  private var isOfFace: Bool {
    name.split { $0 == "/" || $0 == "-" }.contains("face")
  }
}
