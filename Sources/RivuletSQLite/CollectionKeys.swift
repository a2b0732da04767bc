// Part of Rivulet. See README.md for the architecture.
// What the writer knows of a collection.

internal import RivuletStores

/// The keys of a collection as the writing connection sees them, also inside the transaction under way; used by one thread.
final class CollectionKeys {
    let number: Int64
    /// Where each key's document is.
    var places: [ItemKey: Int64] = [:]
    /// Where the next new one goes: behind all that are there.
    var nextPlace: Int64

    init(number: Int64) {
        self.number = number
        nextPlace = ItemRow.places(of: number).lowerBound
    }

    /// Whether no more than `itemsMax` documents are there after these changes.
    func canTake(_ changes: [ItemChange], itemsMax: Int) -> Bool {
        // Mostly there is room for all puts as if each were new.
        if places.count + changes.count <= itemsMax { return true }
        var count = places.count
        var isThere: [ItemKey: Bool] = [:]
        var isCleared = false
        for change in changes {
            switch change {
            case .put(let key, _): count += set(ItemKey(key), to: true)
            case .remove(let key): count += set(ItemKey(key), to: false)
            case .removeAll:
                isThere = [:]
                isCleared = true
                count = 0
            }
        }
        return count <= itemsMax

        func set(_ key: ItemKey, to isNow: Bool) -> Int {
            let wasThere = isThere.updateValue(isNow, forKey: key) ?? (!isCleared && places[key] != nil)
            return (isNow ? 1 : 0) - (wasThere ? 1 : 0)
        }
    }
}
