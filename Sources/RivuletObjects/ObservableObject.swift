/// An object that tells its subscribers before it changes.
///
/// Its fields with ``Published()`` tell by themselves once ``setupPublished()`` has run; for other storage call `objectWillChange.send()`
/// by hand, before the change. A change inside of an object that a field holds is not told by the outer one. There is no actor here:
/// callbacks run where the change is made, and who makes it is up to the caller.
/// Source: <Tests/Rows/Systems.md#c-04>, C-11, C-12.
public protocol ObservableObject: AnyObject, Sendable {
    /// What tells of changes; the same publisher at every call.
    var objectWillChange: ObservableObjectPublisher { get }
}

extension ObservableObject {
    /// The object's own publisher, made when it is first asked for.
    ///
    /// It is dropped with an object that has connected fields, and some time after one that has none: a class of which there are many keeps
    /// `let objectWillChange = ObservableObjectPublisher()` then.
    public var objectWillChange: ObservableObjectPublisher { PublisherTable.shared.publisher(of: self) }

    /// Connects every field with ``Published()``, those of superclasses too, to this object; call it at the end of `init`.
    ///
    /// What is written before is silent. Source: <Tests/Rows/Systems.md#c-08>, C-09.
    public func setupPublished() {
        objectWillChange.isSetUp = true
        let link = PublishedLink(self)
        for storage in publishedStorages { storage.connect(link) }
    }

    /// The fields, those of superclasses too.
    ///
    /// A class with a `customMirror` shows only what that one shows.
    private var publishedStorages: [any AnyPublishedStorage] {
        sequence(first: Mirror(reflecting: self), next: \.superclassMirror).flatMap(\.children).compactMap {
            ($0.value as? any PublishedProperty)?.anyStorage
        }
    }
}
