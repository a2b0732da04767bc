/// The keys of a collection as the writing connection sees them, also inside the transaction under way; used by one thread.
final class CollectionKeys {
    let number: Int64
    /// Where each key's document is.
    var places: KeyTable
    /// Where the next new one goes: behind all that are there.
    var nextPlace: Int64
    /// How many of its keys have been counted as remembered.
    var counted = 0

    init(_ stored: StoredKeys) {
        number = stored.number
        places = stored.places
        nextPlace = stored.nextPlace
    }
}
