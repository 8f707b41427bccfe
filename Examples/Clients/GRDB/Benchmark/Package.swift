// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
  name: "benchmark",
  dependencies: [.package(path: "../GRDB.swift")],
  targets: [
    .executableTarget(
      name: "benchmark", dependencies: [.product(name: "GRDB", package: "GRDB.swift")])
  ])
