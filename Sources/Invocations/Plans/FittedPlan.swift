// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

/// A plan whose places were compared with the Swift types of a result and of arguments.
///
/// Closures and typed messages move values without checking the types again. They need a
/// `FittedPlan`, and every initializer makes the comparison. It checks the number of arguments,
/// kinds, sizes and alignments, and that a structure is no more than its bytes. Plans that are
/// spelled by the types are compared too, because a type can declare any encoding.
@usableFromInline
package struct FittedPlan<Value, each Argument>: Sendable {
  /// The plan.
  @usableFromInline package let plan: CallPlan
  /// The index of the first argument that has a Swift type: 2 for a method, 0 for a function.
  @usableFromInline let first: Int
  /// How the result is stored in the frame.
  @usableFromInline package let result: Place
  /// How the arguments from index `first` on are stored in the frame.
  @usableFromInline package let arguments: [Place]

  /// Compares Swift types with the plan of a method (`first` is 2) or a function (`first` is 0). If
  /// `encoding` is nil, the types spell the signature.
  private init(
    _ encoding: String?, first: Int, _ result: Place, _ arguments: [Place]
  ) throws(InvocationError) {
    self.first = first
    let signature = try Self.signature(encoding, first: first, [result] + arguments)
    let types =
      [result.addressed] + Array(repeating: nil, count: first) + arguments.map(\.addressed)
    guard signature.numberOfArguments == first + arguments.count else {
      throw .argumentCount(
        expected: signature.numberOfArguments - first, given: arguments.count)
    }
    for (index, place) in arguments.enumerated() where place.addressed != nil {
      let type = signature.argumentTypes[first + index]
      guard place.mayLie(in: type) else {
        throw .typeMismatch(index: first + index, expected: type, given: place.type)
      }
    }
    if result.addressed != nil, !result.mayLie(in: signature.resultType) {
      throw .typeMismatch(index: nil, expected: signature.resultType, given: result.type)
    }
    plan = try CallPlan.shared(
      for: signature, swiftTypes: types.contains { $0 != nil } ? types : [])
    self.result = result.placed(in: plan, at: nil)
    self.arguments = Self.placed(arguments, in: plan, first)
    try comparePlaces()
    if first == 2 { try plan.checkMethod() }
  }

  private func comparePlaces(dropsResult: Bool = false) throws(InvocationError) {
    for (index, place) in arguments.enumerated() where !place.fits(plan, place: first + index + 1) {
      throw .typeMismatch(
        index: first + index, expected: plan.type(ofPlace: first + index + 1), given: place.type)
    }
    guard dropsResult || result.fits(plan, place: 0) else {
      throw .typeMismatch(index: nil, expected: plan.type(ofPlace: 0), given: result.type)
    }
  }

  private static func placed(_ places: [Place], in plan: CallPlan, _ first: Int) -> [Place] {
    places.enumerated().map { $1.placed(in: plan, at: first + $0) }
  }

  private static func signature(
    _ encoding: String?, first: Int, _ places: [Place]
  ) throws(InvocationError) -> MethodSignature {
    if let encoding {
      return try InvocationError.wrapping { () throws(TypeEncodingError) in
        try first == 2 ? MethodSignature(method: encoding) : MethodSignature(parsing: encoding)
      }
    }
    if let unfit = places.first(where: \.isUnfit) { throw .unfitType(unfit.type) }
    let hidden = first == 2 ? "@:" : ""
    let text = places[0].encoding + hidden + places.dropFirst().map(\.encoding).joined()
    return try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(ofProgramText: text)
    }
  }
}

extension FittedPlan {
  /// The plan of a method with these declared arguments.
  ///
  /// - Throws: ``InvocationError`` if the encoding cannot be read, or does not fit the types.
  @usableFromInline
  package init(method encoding: String?) throws(InvocationError) {
    if encoding == nil, let known = Known.plan(of: Self.self) {
      self = known
      return
    }
    try self.init(
      encoding, first: 2, Place(of: Value.self, isResult: true, isMethod: true),
      Self.anyPlaces(isMethod: true))
    if encoding == nil { Known.keep(self) }
  }

  /// The plan of a function with these arguments.
  ///
  /// - Throws: ``InvocationError`` if the encoding cannot be read, or does not fit the types.
  @usableFromInline
  package init(function encoding: String?) throws(InvocationError) {
    try self.init(
      encoding, first: 0, Place(of: Value.self, isResult: true),
      Self.anyPlaces(isMethod: false))
  }

  /// Compares an existing plan of a function with the types of the arguments and, unless it is `Void`, of
  /// the result.
  init(function plan: CallPlan) throws(InvocationError) {
    self.plan = plan
    first = 0
    result = Place(of: Value.self, isResult: true).placed(in: plan, at: nil)
    let places = Self.anyPlaces(isMethod: false)
    guard plan.argumentCount == places.count else {
      throw .argumentCount(expected: plan.argumentCount, given: places.count)
    }
    arguments = Self.placed(places, in: plan, 0)
    try comparePlaces(dropsResult: Value.self == Void.self)
  }

  /// The plan of messages with these arguments and without a result. A body that is made of it drops
  /// its result.
  func droppingResult() throws(InvocationError) -> FittedPlan {
    FittedPlan(of: try FittedPlan<Void, repeat each Argument>(method: nil))
  }

  private init(of other: FittedPlan<Void, repeat each Argument>) {
    (plan, first, result, arguments) = (other.plan, other.first, other.result, other.arguments)
  }

  private static func anyPlaces(isMethod: Bool) -> [Place] {
    var places: [Place] = []
    for type in repeat (each Argument).self {
      places.append(Place(of: type, isMethod: isMethod))
    }
    return places
  }
}

/// Caches plans of methods that their types spell, by those types, because each class that conforms
/// to a protocol asks for the same plans. Holds as many plans as the shared cache, and only plans
/// of the program's own text.
private enum Known {
  private static let plans = Guarded<[ObjectIdentifier: any Sendable]>([:])

  static func plan<Value, each Argument>(
    of type: FittedPlan<Value, repeat each Argument>.Type
  ) -> FittedPlan<Value, repeat each Argument>? {
    plans.read { $0[ObjectIdentifier(type)] } as? FittedPlan<Value, repeat each Argument>
  }

  static func keep<Value, each Argument>(_ plan: FittedPlan<Value, repeat each Argument>) {
    guard plan.plan.signature.isStatic else { return }
    let key = ObjectIdentifier(FittedPlan<Value, repeat each Argument>.self)
    // The plan of a thread that was faster stays: dropping it could end it under the lock.
    plans.withLockInPlace { plans in
      if plans.count < CallPlan.cacheCapacity, plans[key] == nil { plans[key] = plan }
    }
  }
}
