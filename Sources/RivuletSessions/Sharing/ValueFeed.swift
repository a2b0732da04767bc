import RivuletJSON
import RivuletStores

/// Feeds streams from a stored value.
final class ValueFeed<Item: StorableItem>: SharedFeed {
    private let box: ValueBox<Item>
    private let id: UInt64

    init(of box: ValueBox<Item>, wake: @escaping @Sendable () -> Void) {
        self.box = box
        id = box.follow(wake)
    }

    deinit { close() }

    func close() { box.unfollow(id) }

    func take(joining start: SharedStart?) -> SharedTake {
        let (values, version, value) = box.take(of: id)
        var take = SharedTake(version: version)
        take.events = values.map { Self.render($0.value, $0.version) }
        switch start {
        case nil: break
        // A stream at the current version has the current value. A stream at another version gets the current value
        // only.
        case .after(version): break
        case .fresh, .after, .lost: take.first = [Self.render(value, version)]
        }
        return take
    }

    private static func render(_ value: Item, _ version: UInt64) -> SharedEvent {
        var writer = JSONWriter(capacity: 128, includesTransient: false)
        writer.beginObject()
        writer.key("version")
        writer.integer(version)
        writer.key("value")
        ItemDocument.write(value, into: &writer)
        writer.endObject()
        return SharedEvent(name: "change", version: version, data: writer.bytes)
    }
}
