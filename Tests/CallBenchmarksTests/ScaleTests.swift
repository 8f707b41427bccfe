// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TestedBenchmarks

@Suite("The scale of an axis")
struct ScaleTests {
  @Test("values within two decades have a linear scale from zero, others a logarithmic one")
  func kind() {
    #expect(!Scale.bars([1, 100]).isLogarithmic)
    #expect(Scale.bars([1, 101]).isLogarithmic)
    #expect(!Scale.heights([0, 1000]).isLogarithmic)
  }

  @Test("the smallest bar has a length, and the largest one fills the width")
  func ends() {
    for values in [[1, 1000], [10, 5000], [19, 5000], [0.2, 30], [3, 4]] {
      let scale = Scale.bars(values)
      #expect(scale.place(values[0]) > 0.05, "\(values)")
      #expect(scale.place(values[1]) == 1, "\(values)")
    }
  }

  @Test(
    "marks are round numbers",
    arguments: [
      ([5.1, 974], ["1", "10", "100"]), ([55, 1349], ["0", "500", "1k"]),
      ([3, 4], ["0", "1", "2", "3", "4"]),
      ([0.02, 0.5], ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
    ])
  func bars(_ values: [Double], _ marks: [String]) {
    #expect(Scale.bars(values).marks.map(Scale.text) == marks)
  }

  @Test(
    "the marks of heights enclose the values",
    arguments: [
      ([2, 33], ["0", "10", "20", "30", "40"]),
      ([2, 7e6], ["1", "10", "100", "1k", "10k", "100k", "1M", "10M"]),
      ([1, 1e10], ["1", "100", "10k", "1M", "100M", "10G"]),
      ([0, 0], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    ])
  func heights(_ values: [Double], _ marks: [String]) {
    #expect(Scale.heights(values).marks.map(Scale.text) == marks)
  }

  @Test(
    "growing numbers are marked themselves, or by decades if there are too many",
    arguments: [
      ([1, 2, 4, 8], ["1", "2", "4", "8"]), ([10, 100, 1000], ["10", "100", "1k"]),
      (
        [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
        ["1", "10", "100", "1k", "10k", "100k", "1M"]
      ), ([7], ["7"]), ([0, 1, 8], ["0", "2", "4", "6", "8"]),
      (Array(stride(from: 41, through: 60, by: 1)), ["41", "60"]),
    ])
  func growing(_ values: [Double], _ marks: [String]) {
    #expect(Scale.growing(values).marks.map(Scale.text) == marks)
  }

  @Test("words describe the distance between two marks")
  func words() {
    #expect(Scale.bars([3, 4]).words == "")
    #expect(Scale.heights([1, 1000]).words == "log scale, each line is ten times the one before")
    #expect(
      Scale.heights([1, 1e10]).words == "log scale, each line is a hundred times the one before")
  }

  @Test(
    "labels of numbers are short",
    arguments: [
      (0, "0"), (0.05, "0.05"), (0.5, "0.5"), (1.5, "1.5"), (12, "12"), (1500, "1.5k"),
      (1_000_000, "1M"), (2e9, "2G"), (.infinity, "–"),
    ])
  func texts(_ value: Double, _ text: String) {
    #expect(Scale.text(value) == text)
  }
}
