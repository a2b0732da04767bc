import DequeModule

/// A first-in, first-out queue of objects of one class.
///
/// The code of a session is compiled once for all apps, so there a `Deque` of a class with the app's types is made from metadata at each
/// call, which took a tenth of a dispatch. This one is a deque of any objects underneath, compiled for them alone.
struct ObjectQueue<Element: AnyObject> {
    private var objects: Deque<AnyObject> = []

    @inline(__always) var count: Int { objects.count }

    @inline(__always) var isEmpty: Bool { objects.isEmpty }

    @inline(__always) var first: Element? {
        guard let object = objects.first else { return nil }
        return Self.element(object)
    }

    @inline(__always) subscript(index: Int) -> Element { Self.element(objects[index]) }

    @inline(__always)
    mutating func append(_ element: Element) {
        objects.append(element)
    }

    @inline(__always)
    mutating func popFirst() -> Element? {
        guard let object = objects.popFirst() else { return nil }
        return Self.element(object)
    }

    /// Takes all objects, in their order.
    mutating func takeAll() -> [Element] {
        defer { objects.removeAll() }
        return objects.map(Self.element)
    }

    @inline(__always)
    private static func element(_ object: AnyObject) -> Element {
        // SAFETY: `append` is the only way in, and takes nothing but elements.
        unsafe unsafeDowncast(object, to: Element.self)
    }
}
