/// What the fields of one object share: where to tell of changes, and until when.
///
/// Fields may outlive their object; then nobody is told any more. Source: <Tests/Rows/Systems.md#c-13>, C-14.
final class PublishedLink: Sendable {
    private weak let owner: (any ObservableObject)?
    private let publisher: ObservableObjectPublisher
    private let id: ObjectIdentifier

    init(_ owner: some ObservableObject) {
        self.owner = owner
        publisher = owner.objectWillChange
        id = ObjectIdentifier(owner)
    }

    deinit {
        PublisherTable.shared.forget(id)
    }

    /// Tells that the object will change, while there is one.
    func send() {
        guard let owner else { return }
        // The object stays until all are told.
        withExtendedLifetime(owner) { publisher.send() }
    }
}
