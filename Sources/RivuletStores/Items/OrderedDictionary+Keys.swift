// Owns the removal of many keys from an ordered list.

import OrderedCollections

extension OrderedDictionary where Key == ItemKey {
    /// Removes keys, those that are there.
    mutating func remove(_ keys: [ItemKey]) {
        // Each removal moves up what stands behind it: of many keys one walk over everything costs less.
        if keys.count < 4 {
            for key in keys { self[key] = nil }
        } else {
            let gone = Set(keys)
            removeAll { gone.contains($0.key) }
        }
    }
}
