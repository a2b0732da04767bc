internal import FoundationEssentials
public import Observation
import Synchronization

extension Generated {
    /// A node of a state that may have observers: one value, with its fields and the nodes below it.
    ///
    /// A node can have different values, one after another. Copies of a value keep its node (lineage): a write to a
    /// copy notifies the observers of the original. Safe on all threads. Observers registered by
    /// `withObservationTracking` are removed after their notification, or with the node.
    public final class ObservedNode: Observable, Sendable {
        /// A step to a node below.
        @usableFromInline
        enum Step: Hashable, Sendable {
            /// The value in a field, by its position, or in an enum's case.
            case field(Int)
            /// An element of a keyed collection, by its id's token.
            case element(String)
        }

        /// The nodes below a node, and the readers of whole values around it.
        private struct Surroundings {
            var children: [Step: Generated.ObservedNode] = [:]
            /// The readers of this value as a whole; nil if there were none.
            var wholeReaders: WholeReaders?
            /// The readers of the whole values that contain this value; empty if there were none.
            var outerReaders: [WholeReaders] = []
        }

        /// Swift's own list of the observers of each field.
        let registrar = ObservationRegistrar()
        private let surroundings = Mutex(Surroundings())
        private let hasWholeReaders = Atomic<Bool>(false)
        private let readFields = Atomic<UInt64>(0)
        private let readWhole = Atomic<Bool>(false)
        private let readUnreported = Atomic<UInt64>(0)
        private let identity = Mutex<UUID?>(nil)

        @usableFromInline
        init() {}

        /// The identity of an ``ObservableValue`` at this node, made at its first use.
        var id: UUID {
            identity.withLock { identity in
                if let identity { return identity }
                let fresh = UUID()
                identity = fresh
                return fresh
            }
        }

        /// The identity of a value without a node.
        static let noID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

        /// The property by which ``registrar`` identifies a field.
        subscript(field field: Int) -> Void { () }

        /// The index of the value itself, beside the indices of its fields.
        ///
        /// Its observers read the value's presence, or the set and the order of a collection's elements.
        @usableFromInline static let wholeField = ChangeMark.fieldsMax

        /// The key paths of all fields, made once, because each costs a microsecond to make.
        private static let keyPaths = (0...wholeField).map {
            field -> any KeyPath<Generated.ObservedNode, Void> & Sendable in \.[field: field]
        }

        /// Returns the node at a step below, which is the same at every call.
        @usableFromInline
        func child(_ step: Step) -> Generated.ObservedNode {
            surroundings.withLock { surroundings in
                if let child = surroundings.children[step] { return child }
                let child = Generated.ObservedNode()
                if hasWholeReaders.load(ordering: .relaxed) {
                    for readers in surroundings.outerReaders { child.admit(readers) }
                    if let readers = surroundings.wholeReaders { child.admit(readers) }
                }
                surroundings.children[step] = child
                return child
            }
        }

        /// Returns the node at a step below, if it has been made.
        func existingChild(_ step: Step) -> Generated.ObservedNode? {
            surroundings.withLock { $0.children[step] }
        }

        /// Notifies the observers of the value below that it was removed or is new, and discards its node.
        ///
        /// Observers that still need the value ask for a new node.
        func tellAndForget(_ step: Step) {
            surroundings.withLock { $0.children.removeValue(forKey: step) }?.mutate(Self.wholeField) {}
        }

        /// Records a read of a field, for `withObservationTracking` and for ``Derived``.
        @usableFromInline
        func access(_ field: Int) {
            _ = readFields.bitwiseOr(ChangeMark.bit(field), ordering: .relaxed)
            registrar.access(self, keyPath: Self.keyPaths[field])
        }

        /// Records a read of a field with changes that are not reported, because the field is in no JSON.
        @usableFromInline
        func accessUnreported(_ field: Int) {
            _ = readUnreported.bitwiseOr(ChangeMark.bit(field), ordering: .relaxed)
            access(field)
        }

        /// Records a read of the whole value: any write here and below is a change of it.
        @usableFromInline
        func accessWhole() {
            readWhole.store(true, ordering: .relaxed)
            wholeReaders().access()
        }

        /// Records that the elements of a collection are counted or walked; each element is read at its own node.
        @usableFromInline
        func accessOrder() {
            readWhole.store(true, ordering: .relaxed)
            registrar.access(self, keyPath: Self.keyPaths[Self.wholeField])
        }

        /// Returns the readers of this value as a whole; the first call adds them to all nodes below.
        ///
        /// A node that is made later gets them in ``child(_:)``.
        private func wholeReaders() -> WholeReaders {
            let (readers, children) = surroundings.withLock {
                surroundings -> (WholeReaders, [Generated.ObservedNode]) in
                if let readers = surroundings.wholeReaders { return (readers, []) }
                let readers = WholeReaders()
                surroundings.wholeReaders = readers
                hasWholeReaders.store(true, ordering: .releasing)
                return (readers, Array(surroundings.children.values))
            }
            for child in children { child.admit(readers) }
            return readers
        }

        /// Adds readers of a value that contains this one, so that writes here and below notify them.
        private func admit(_ readers: WholeReaders) {
            let children = surroundings.withLock { surroundings in
                surroundings.outerReaders.append(readers)
                hasWholeReaders.store(true, ordering: .releasing)
                return Array(surroundings.children.values)
            }
            for child in children { child.admit(readers) }
        }

        /// The readers that every write to this value notifies.
        private var allWholeReaders: [WholeReaders] {
            surroundings.withLock { $0.outerReaders + ($0.wholeReaders.map { [$0] } ?? []) }
        }

        /// Records a read of the value's presence.
        @usableFromInline
        func accessPresence() {
            registrar.access(self, keyPath: Self.keyPaths[Self.wholeField])
        }

        /// Notifies the observers of a field that it is about to change.
        @usableFromInline
        func willSet(_ field: Int) {
            registrar.willSet(self, keyPath: Self.keyPaths[field])
            guard hasWholeReaders.load(ordering: .acquiring) else { return }
            for readers in allWholeReaders { readers.willSet() }
        }

        /// Notifies the observers of a field that it has changed.
        @usableFromInline
        func didSet(_ field: Int) {
            registrar.didSet(self, keyPath: Self.keyPaths[field])
            guard hasWholeReaders.load(ordering: .acquiring) else { return }
            for readers in allWholeReaders { readers.didSet() }
        }

        /// Writes a field between ``willSet(_:)`` and ``didSet(_:)``.
        @usableFromInline
        func mutate(_ field: Int, _ write: () -> Void) {
            willSet(field)
            write()
            didSet(field)
        }

        // MARK: - Recorded reads

        /// The nodes below that have been made.
        var existingChildren: [Step: Generated.ObservedNode] { surroundings.withLock { $0.children } }

        /// True if the value was read as a whole.
        var readsWhole: Bool { readWhole.load(ordering: .relaxed) }

        /// The fields with unreported changes that were read.
        var unreportedReads: [Int] {
            let fields = readUnreported.load(ordering: .relaxed)
            return (0..<ChangeMark.fieldsMax).filter { fields & ChangeMark.bit($0) != 0 }
        }

        /// Returns true if a field was read.
        func wasRead(_ field: Int) -> Bool {
            readFields.load(ordering: .relaxed) & ChangeMark.bit(field) != 0
        }

        /// True if anything in the value was read.
        var wasReadWithin: Bool {
            readFields.load(ordering: .relaxed) != 0 || readsWhole || !existingChildren.isEmpty
        }
    }
}
