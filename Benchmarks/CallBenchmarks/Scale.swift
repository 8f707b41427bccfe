// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Maps values to places on an axis, from 0 to 1, and chooses the values that are labelled.
struct Scale {
  let isLogarithmic: Bool
  let bottom: Double
  let top: Double
  let marks: [Double]

  /// The place of a value.
  func place(_ value: Double) -> Double {
    let (from, to, at) =
      isLogarithmic ? (log10(bottom), log10(top), log10(value)) : (bottom, top, value)
    return to > from ? min(max((at - from) / (to - from), 0), 1) : 0.5
  }

  /// The description of a logarithmic axis. Empty for an axis from zero, which readers expect.
  var words: String {
    guard isLogarithmic else { return "" }
    let names = [(10.0, "ten"), (100, "a hundred"), (1000, "a thousand")]
    let steps = zip(marks, marks.dropFirst()).map { $1 / $0 }
    guard let step = names.first(where: { step, _ in abs((steps.first ?? 0) / step - 1) < 0.001 }),
      steps.allSatisfy({ abs($0 / step.0 - 1) < 0.001 })
    else { return "log scale" }
    return "log scale, each line is \(step.1) times the one before"
  }

  /// The scale of bars: linear from zero, or logarithmic if the values span more than two decades.
  /// Even the bar of the smallest value has a length.
  static func bars(_ values: [Double]) -> Scale {
    guard let least = values.min(), let most = values.max(), spansDecades(values) else {
      return linear(to: values.max() ?? 1, endsAtMark: false)
    }
    let bottom = power(floor(log10(least / 2)))
    return Scale(
      isLogarithmic: true, bottom: bottom, top: most, marks: decades(from: bottom, to: most))
  }

  /// The scale of the heights of a chart, whose ends are labelled; linear or logarithmic by the
  /// same rule.
  static func heights(_ values: [Double]) -> Scale {
    guard let least = values.min(), let most = values.max(), spansDecades(values) else {
      return linear(to: values.max() ?? 1, endsAtMark: true)
    }
    let (bottom, top) = (power(floor(log10(least))), power(ceil(log10(most))))
    return Scale(
      isLogarithmic: true, bottom: bottom, top: top, marks: decades(from: bottom, to: top))
  }

  /// The scale of growing numbers: logarithmic. The labels are the numbers themselves if there is
  /// room, and powers of ten if there is not.
  static func growing(_ values: [Double]) -> Scale {
    let numbers = Set(values).sorted()
    guard let first = numbers.first, let last = numbers.last, first > 0 else {
      return linear(to: numbers.last ?? 1, endsAtMark: true)
    }
    let scale = Scale(isLogarithmic: true, bottom: first, top: last, marks: numbers)
    let places = numbers.map(scale.place)
    if zip(places, places.dropFirst()).allSatisfy({ $1 - $0 >= 0.12 }) { return scale }
    let found = decades(from: first, to: last)
    return Scale(
      isLogarithmic: true, bottom: first, top: last,
      marks: found.count > 1 ? found : [first, last])
  }

  private static func spansDecades(_ values: [Double]) -> Bool {
    guard let least = values.min(), let most = values.max() else { return false }
    return least > 0 && most / least > 100
  }

  private static func power(_ exponent: Double) -> Double { pow(10, exponent) }

  /// The powers of ten between two values: at most eight, with even steps.
  private static func decades(from bottom: Double, to top: Double) -> [Double] {
    let (first, last) = (Int(ceil(log10(bottom) - 1e-9)), Int(floor(log10(top) + 1e-9)))
    guard first <= last else { return [] }
    let step = (last - first) / 8 + 1
    return stride(from: first, through: last, by: step).map { power(Double($0)) }
  }

  /// A linear scale from zero in three to six steps of 1, 2 or 5.
  private static func linear(to most: Double, endsAtMark: Bool) -> Scale {
    let most = most > 0 ? most : 1
    let unit = power(floor(log10(most)))
    let step = [0.2, 0.5, 1, 2].map { $0 * unit }.first { most / $0 <= 5 } ?? unit
    let count = endsAtMark ? ceil(most / step - 1e-9) : floor(most / step + 1e-9)
    return Scale(
      isLogarithmic: false, bottom: 0, top: endsAtMark ? count * step : most,
      marks: (0...Int(count)).map { Double($0) * step })
  }

  /// A short label of an axis: 0.5, 20, 3k, 1M.
  static func text(_ value: Double) -> String {
    let (number, unit) =
      value >= 1e9
      ? (value / 1e9, "G")
      : value >= 1e6
        ? (value / 1e6, "M") : value >= 1000 ? (value / 1000, "k") : (value, "")
    guard number.isFinite, number < 1e6 else { return "–" }
    // The significant digits, without trailing zeros after the point.
    let digits = number >= 100 ? 0.0 : number >= 1 ? 1.0 : 3 - ceil(log10(max(number, 1e-9)))
    let scale = power(digits)
    let scaled = Int((number * scale).rounded())
    var fraction = String(scaled % Int(scale))
    fraction = String(repeating: "0", count: max(0, Int(digits) - fraction.count)) + fraction
    while fraction.last == "0" { fraction.removeLast() }
    let whole = "\(scaled / Int(scale))"
    return (fraction.isEmpty || digits == 0 ? whole : "\(whole).\(fraction)") + unit
  }
}
