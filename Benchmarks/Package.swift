// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who depends on swift-forwarding builds it.
let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-forwarding", path: "..")],
  targets: [
    .executableTarget(
      name: "benchmarks",
      dependencies: [.product(name: "Forwarding", package: "swift-forwarding")])
  ],
  swiftLanguageModes: [.v6]
)
