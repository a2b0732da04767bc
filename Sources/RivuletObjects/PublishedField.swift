// Part of Rivulet. See README.md for the architecture.
// Owns what a session sees of an object's fields: names, shapes, values, and what changed.

package import RivuletJSON

/// One published field of an object, as a session streams it.
package struct PublishedField: Sendable {
    /// The name in code, in JSON and in key paths.
    package let name: String
    private let storage: any AnyPublishedStorage

    init(name: String, storage: any AnyPublishedStorage) {
        self.name = name
        self.storage = storage
    }

    /// The shape of the field's JSON; nil: its type has none, and the field is not to be shown.
    package var jsonSchema: JSONSchema? { storage.jsonSchema }

    /// The value as it is.
    package var current: PublishedValue { storage.current }

    /// Whether the field was written since it was last asked; the value may be the same.
    package var isWritten: Bool { storage.isWritten }

    /// What the value was when this was last called, and what it is; nil when there is no difference.
    ///
    /// Net: however often it was written between. Only one caller may use it.
    package func takeChange() -> PublishedChange? { storage.takeChange() }
}

/// What a write, or several, did to a field.
package struct PublishedChange: Sendable {
    package let before: PublishedValue
    package let now: PublishedValue
}

/// A field's value at a moment.
package struct PublishedValue: Sendable {
    package let value: any Sendable
    private let encode: @Sendable (_ path: ArraySlice<String>, _ writer: inout JSONWriter) -> Bool

    init(
        value: any Sendable,
        encode: @escaping @Sendable (_ path: ArraySlice<String>, _ writer: inout JSONWriter) -> Bool
    ) {
        self.value = value
        self.encode = encode
    }

    /// Writes the value at a path below this one, by default all of it.
    ///
    /// False, with nothing written, when there is no such value, or when the type has no JSON.
    package func encodeJSON(at path: ArraySlice<String> = [], into writer: inout JSONWriter) -> Bool {
        encode(path, &writer)
    }
}

extension ObservableObject {
    /// The published fields, those of superclasses first, in the order of declaration; from now on they keep what changes.
    ///
    /// Asking again gives the same fields. `setupPublished()` need not have run: changes are kept anyway, it only tells when to ask.
    package func trackPublished() -> [PublishedField] {
        publishedStorages.map { name, storage in
            storage.track()
            return PublishedField(name: name, storage: storage)
        }
    }
}
