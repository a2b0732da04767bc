/// An object that notifies its subscribers before it changes.
///
/// Its fields with ``Published()`` notify subscribers by themselves once ``setupPublished()`` has run. For other
/// storage call `objectWillChange.send()` by hand, before the change. A change inside of an object that a field holds
/// does not notify the outer object's subscribers. No actor is used: callbacks run on the thread that makes the change.
/// Source: <Tests/Rows/Systems.md#c-04>, C-11, C-12.
public protocol ObservableObject: AnyObject, Sendable {
    /// The publisher of the object's changes; the same publisher at every call.
    var objectWillChange: ObservableObjectPublisher { get }
}

extension ObservableObject {
    /// The object's own publisher, made at its first use.
    ///
    /// The publisher of an object with connected fields is dropped with the object. The publisher of an object without
    /// connected fields is dropped some time later. A class with many such objects should therefore have `let
    /// objectWillChange = ObservableObjectPublisher()`.
    public var objectWillChange: ObservableObjectPublisher { PublisherTable.shared.publisher(of: self) }

    /// Connects every field with ``Published()``, also fields of superclasses, to this object; call it at the end of
    /// `init`.
    ///
    /// Writes before this call notify no subscribers. Source: <Tests/Rows/Systems.md#c-08>, C-09.
    public func setupPublished() {
        objectWillChange.isSetUp = true
        let link = PublishedLink(self)
        for storage in publishedStorages { storage.connect(link) }
    }

    /// The storages of the object's fields with ``Published()``, also of fields of superclasses.
    ///
    /// For a class with a `customMirror`, the list has only the fields that the mirror shows.
    private var publishedStorages: [any AnyPublishedStorage] {
        sequence(first: Mirror(reflecting: self), next: \.superclassMirror).flatMap(\.children).compactMap {
            ($0.value as? any PublishedProperty)?.anyStorage
        }
    }
}
