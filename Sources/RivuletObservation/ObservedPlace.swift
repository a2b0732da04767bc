// Part of Rivulet. See README.md for the architecture.
// This file owns the meeting point of Swift's Observation and a place in a state.

internal import FoundationEssentials
public import Observation
import Synchronization

/// A place in a state that somebody may be watching: one value, with its fields and the places below it.
///
/// Values come and go in a place, and copies of a value take it along (lineage): a write to a copy tells those who watch the original.
/// Safe on all threads. Observers registered by `withObservationTracking` go away when they have been told, or with the place.
public final class ObservedPlace: Observable, Sendable {
    /// What is below a place.
    @usableFromInline
    enum Step: Hashable, Sendable {
        /// The value in a field, by its position, or in an enum's case.
        case field(Int)
        /// An element of a keyed collection, by its id's token.
        case element(String)
    }

    /// Swift's own list of who watches which field.
    let registrar = ObservationRegistrar()
    private let children = Mutex<[Step: ObservedPlace]>([:])
    private let readFields = Atomic<UInt64>(0)
    private let readWhole = Atomic<Bool>(false)
    private let readUnreported = Atomic<UInt64>(0)
    private let identity = Mutex<UUID?>(nil)

    @usableFromInline
    init() {}

    /// What an ``ObservableValue`` at this place is known by; made when it is first asked for.
    var id: UUID {
        identity.withLock { identity in
            if let identity { return identity }
            let fresh = UUID()
            identity = fresh
            return fresh
        }
    }

    /// What a value in no place is known by.
    static let noID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// What stands for a field in ``registrar``.
    subscript(field field: Int) -> Void { () }

    /// What stands for the value itself, beside its fields: whether it is there, and which elements it has.
    @usableFromInline static let wholeField = ChangeMark.fieldsMax

    /// Made once, for making such a key path costs a microsecond.
    private static let keyPaths = (0...wholeField).map {
        field -> any KeyPath<ObservedPlace, Void> & Sendable in \.[field: field]
    }

    /// The place of what is below, the same at every call.
    @usableFromInline
    func child(_ step: Step) -> ObservedPlace {
        children.withLock { children in
            if let child = children[step] { return child }
            let child = ObservedPlace()
            children[step] = child
            return child
        }
    }

    /// The place of what is below, if somebody asked for it.
    func existingChild(_ step: Step) -> ObservedPlace? {
        children.withLock { $0[step] }
    }

    /// Tells those who watch what is below that it is gone, or there anew, and forgets the place: whoever still cares asks again.
    func tellAndForget(_ step: Step) {
        children.withLock { $0.removeValue(forKey: step) }?.mutate(Self.wholeField) {}
    }

    /// Notes that a field is read, for `withObservationTracking` and for ``Derived``.
    @usableFromInline
    func access(_ field: Int) {
        _ = readFields.bitwiseOr(ChangeMark.bit(field), ordering: .relaxed)
        registrar.access(self, keyPath: Self.keyPaths[field])
    }

    /// Notes that a field is read whose changes nobody reports, because it is in no JSON.
    @usableFromInline
    func accessUnreported(_ field: Int) {
        _ = readUnreported.bitwiseOr(ChangeMark.bit(field), ordering: .relaxed)
        access(field)
    }

    /// Notes that the value is read with all that is in it, or that its elements are counted or walked.
    @usableFromInline
    func accessWhole() {
        readWhole.store(true, ordering: .relaxed)
        registrar.access(self, keyPath: Self.keyPaths[Self.wholeField])
    }

    /// Notes that somebody asks whether there is a value.
    @usableFromInline
    func accessPresence() {
        registrar.access(self, keyPath: Self.keyPaths[Self.wholeField])
    }

    /// Tells the observers of a field that it is about to change.
    @usableFromInline
    func willSet(_ field: Int) {
        registrar.willSet(self, keyPath: Self.keyPaths[field])
    }

    /// Tells the observers of a field that it has changed.
    @usableFromInline
    func didSet(_ field: Int) {
        registrar.didSet(self, keyPath: Self.keyPaths[field])
    }

    /// Writes a field between ``willSet(_:)`` and ``didSet(_:)``.
    @usableFromInline
    func mutate(_ field: Int, _ write: () -> Void) {
        willSet(field)
        write()
        didSet(field)
    }

    // MARK: - What was read

    /// The places below, as far as somebody asked for them.
    var existingChildren: [Step: ObservedPlace] { children.withLock { $0 } }

    /// Whether the value was read with all that is in it.
    var readsWhole: Bool { readWhole.load(ordering: .relaxed) }

    /// The fields that were read and whose changes nobody reports.
    var unreportedReads: [Int] {
        let fields = readUnreported.load(ordering: .relaxed)
        return (0..<ChangeMark.fieldsMax).filter { fields & ChangeMark.bit($0) != 0 }
    }

    /// Whether a field was read.
    func wasRead(_ field: Int) -> Bool {
        readFields.load(ordering: .relaxed) & ChangeMark.bit(field) != 0
    }

    /// Whether anything in the value was read.
    var wasReadWithin: Bool {
        readFields.load(ordering: .relaxed) != 0 || readsWhole || !existingChildren.isEmpty
    }
}
