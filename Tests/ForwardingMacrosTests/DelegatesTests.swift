// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ProxyProtocols
  import Forwarding
  import Testing

  @Forwardable
  private protocol Bell: AnyObject {
    func ring(_ times: Int)
  }

  @Forwardable
  @MainActor
  private protocol Drawing: AnyObject {
    func draw(_ text: String)
  }

  private enum Street {
    @Forwardable
    protocol Gate: AnyObject, Sendable {
      @Otherwise(false) func open(_ name: String) -> Bool
    }
  }

  private final class House: Bell {
    var rings: [Int] = []
    func ring(_ times: Int) { rings.append(times) }
  }

  private final class Door: Street.Gate {
    func open(_ name: String) -> Bool { name == "Ann" }
  }

  private class Visitor {
    @Delegates fileprivate var bell: any Bell
    @Delegates var meter: any ProxyProtocols.Meter
    @Delegates var listener: any Listener<Int>
    @Delegates static var gate: any Street.Gate & Sendable
    func come() { bell.ring(2) }
  }

  private final class Neighbour: Visitor {}

  private actor Post {
    @Delegates var gate: any Street.Gate
    @Delegates private var bell: any Bell
    func come(_ name: String) -> Bool { gate.open(name) }
    func ring() -> [Int] {
      let house = House()
      $bell.add(house)
      bell.ring(3)
      return house.rings
    }
  }

  @MainActor
  private final class Window: Drawing {
    @Delegates var drawing: any Drawing
    @Delegates var bell: any Bell
    var drawn: [String] = []
    func draw(_ text: String) { drawn.append(text) }
  }

  private struct Card {
    @Delegates var bell: any Bell
    var text = ""
  }

  @Suite("'@Delegates'")
  struct DelegatesTests {
    @Test("in a class, the property is the object of the protocol, and '$' the multicast")
    func inClass() {
      let visitor = Neighbour()
      let (one, other) = (House(), House())
      visitor.$bell.add(one)
      visitor.$bell.add(other)
      visitor.come()
      #expect(one.rings + other.rings == [2, 2])
      visitor.$bell.remove(one)
      visitor.bell.ring(1)
      Visitor().come()
      #expect(one.rings + other.rings == [2, 2, 1], "each object has delegates of its own")
      #expect(visitor.bell === visitor.bell)
    }

    @Test("the protocol may be of another module, generic, or inside of a type")
    func protocols() {
      let (visitor, door) = (Visitor(), Door())
      #expect(visitor.listener.answer(to: 1) == nil)
      #expect(visitor.meter.sum == 0)
      Visitor.$gate.add(door)
      #expect(Visitor.gate.open("Ann"))
    }

    @Test("in an actor, a protocol that is Sendable is reached from outside")
    func inActor() async {
      let (post, door) = (Post(), Door())
      post.$gate.add(door)
      #expect(await post.come("Ann"))
      #expect(await post.ring() == [3])
    }

    @Test("in a class of the main actor")
    @MainActor func onMain() {
      let (window, other, house) = (Window(), Window(), House())
      window.$drawing.add(other)
      window.$bell.add(house)
      window.drawing.draw("a")
      window.bell.ring(1)
      #expect(other.drawn == ["a"])
      #expect(house.rings == [1])
    }

    @Test("the copies of a structure share their delegates")
    func inStructure() {
      let house = House()
      let card = Card(text: "a")
      card.$bell.add(house)
      let copy = card
      copy.bell.ring(5)
      #expect(house.rings == [5])
    }
  }
#endif
