// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-forwarding", path: "..")],
  targets: [
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        .product(name: "Forwarding", package: "swift-forwarding"),
        .product(name: "_CallBenchmarks", package: "swift-forwarding"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
