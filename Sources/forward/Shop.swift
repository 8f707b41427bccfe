// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote

/// The object that `forward serve` exposes, with a message for each kind of type that may be sent.
final class Shop: MethodDeclaring, @unchecked Sendable {
  // SAFETY: a lock guards the mutable state.
  private let stock = Guarded<[String: Article]>([
    "tea": Article(price: 3.5, count: 12), "milk": Article(price: 1.2, count: 40),
    "kettle": Article(price: 29, count: 2),
  ])

  private struct Article {
    var price: Double
    var count: Int32
  }

  static let subject = "shop"

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("price:") { (shop: Shop, name: String) in try shop.article(name).price }
    methods.register("stock:") { (shop: Shop, name: String) in try shop.article(name).count }
    methods.register("buy:amount:") { (shop: Shop, name: String, amount: Int32) in
      try shop.buy(name, amount)
    }
    methods.register("restock:amount:") { (shop: Shop, name: String, amount: Int32) in
      shop.restock(name, amount)
    }
    methods.register("order:") { (shop: Shop, order: Order) in try shop.order(order) }
    methods.register("volume:") { (_: Shop, box: Box) in box.width * box.height * box.depth }
    methods.register("label:") { (_: Shop, name: String) in Array(name.utf8) }
    methods.register("isOpen") { (_: Shop) in true }
    methods.register("wait:") { (_: Shop, seconds: Double) async throws in
      // The caller chooses the seconds, so they are limited to 60; NaN counts as zero.
      try await Task.sleep(for: .seconds(seconds > 0 ? min(seconds, 60) : 0))
    }
  }

  /// The messages that other processes may send, with their types.
  static func interface() throws -> Interface {
    var shop = Interface(subject)
    try shop.allow(Message<Double, String>("price:"))
    try shop.allow(Message<Int32, String>("stock:"))
    try shop.allow(Message<Double, String, Int32>("buy:amount:"))
    try shop.allow(Message<Void, String, Int32>("restock:amount:"))
    try shop.allow(Message<Receipt, Order>("order:"))
    try shop.allow(Message<Double, Box>("volume:"))
    try shop.allow(Message<[UInt8], String>("label:"))
    try shop.allow(Message<Bool>("isOpen"))
    try shop.allow(AsyncMessage<Void, Double>("wait:"))
    return shop
  }

  private func article(_ name: String) throws -> Article {
    guard let article = stock.read({ $0[name] }) else { throw Refusal.noArticle(name) }
    return article
  }

  private func buy(_ name: String, _ amount: Int32) throws -> Double {
    try stock.withLockInPlace { stock throws(Refusal) in
      guard var article = stock[name] else { throw .noArticle(name) }
      guard amount > 0 else { throw .noAmount }
      guard article.count >= amount else { throw .soldOut(article.count) }
      article.count -= amount
      stock[name] = article
      return article.price * Double(amount)
    }
  }

  private func restock(_ name: String, _ amount: Int32) {
    stock.withLockInPlace { stock in
      guard amount > 0, let count = stock[name]?.count else { return }
      stock[name]?.count = Int32(clamping: Int64(count) + Int64(amount))
    }
  }

  private func order(_ order: Order) throws -> Receipt {
    var receipt = Receipt(total: 0, articles: 0)
    for (name, amount) in order.articles.sorted(by: { $0.key < $1.key }) {
      receipt.total += try buy(name, amount)
      receipt.articles += Int(amount)
    }
    return receipt
  }

  /// A failure of the shop, with a text for the caller.
  private enum Refusal: RemoteFailure {
    case noArticle(String)
    case noAmount
    case soldOut(Int32)

    var remoteCode: Int32 {
      switch self {
      case .noArticle: 2
      case .noAmount: 22
      case .soldOut: 28
      }
    }

    var remoteText: String {
      switch self {
      case .noArticle(let name): "there is no '\(name)'; there are tea, milk and kettle"
      case .noAmount: "the amount must be 1 at least"
      case .soldOut(let left): "only \(left) are left"
      }
    }
  }
}

/// The argument of `order:`, a Swift type that is sent as JSON.
struct Order: Codable, Sendable {
  var articles: [String: Int32]
}

/// The result of `order:`.
struct Receipt: Codable, Sendable {
  var total: Double
  var articles: Int
}

/// The argument of `volume:`, a C structure that is sent as its numbers.
struct Box: CallStructure {
  var width: Double
  var height: Double
  var depth: Double

  static var structure: VouchedStructure<Box> { unsafe VouchedStructure("{Box=ddd}") }
}
