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

    /// What is around a place.
    private struct Surroundings {
        var children: [Step: ObservedPlace] = [:]
        /// The readers of this value with all that is in it; nil: there were none.
        var wholeReaders: WholeReaders?
        /// Those of the values that it is in, as far as there were any.
        var outerReaders: [WholeReaders] = []
    }

    /// Swift's own list of who watches which field.
    let registrar = ObservationRegistrar()
    private let surroundings = Mutex(Surroundings())
    private let hasWholeReaders = Atomic<Bool>(false)
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
        surroundings.withLock { surroundings in
            if let child = surroundings.children[step] { return child }
            let child = ObservedPlace()
            if hasWholeReaders.load(ordering: .relaxed) {
                for readers in surroundings.outerReaders { child.admit(readers) }
                if let readers = surroundings.wholeReaders { child.admit(readers) }
            }
            surroundings.children[step] = child
            return child
        }
    }

    /// The place of what is below, if somebody asked for it.
    func existingChild(_ step: Step) -> ObservedPlace? {
        surroundings.withLock { $0.children[step] }
    }

    /// Tells those who watch what is below that it is gone, or there anew, and forgets the place: whoever still cares asks again.
    func tellAndForget(_ step: Step) {
        surroundings.withLock { $0.children.removeValue(forKey: step) }?.mutate(Self.wholeField) {}
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

    /// Notes that the value is read with all that is in it: any write here and below is a change of it.
    @usableFromInline
    func accessWhole() {
        readWhole.store(true, ordering: .relaxed)
        wholeReaders().access()
    }

    /// Notes that the elements of a collection are counted or walked; each of them is read at its own place.
    @usableFromInline
    func accessOrder() {
        readWhole.store(true, ordering: .relaxed)
        registrar.access(self, keyPath: Self.keyPaths[Self.wholeField])
    }

    /// The readers of this value with all that is in it; the places below learn of them when they are made.
    private func wholeReaders() -> WholeReaders {
        let (readers, children) = surroundings.withLock { surroundings -> (WholeReaders, [ObservedPlace]) in
            if let readers = surroundings.wholeReaders { return (readers, []) }
            let readers = WholeReaders()
            surroundings.wholeReaders = readers
            hasWholeReaders.store(true, ordering: .releasing)
            return (readers, Array(surroundings.children.values))
        }
        for child in children { child.admit(readers) }
        return readers
    }

    /// Makes writes here and below tell the readers of a value that this one is in.
    private func admit(_ readers: WholeReaders) {
        let children = surroundings.withLock { surroundings in
            surroundings.outerReaders.append(readers)
            hasWholeReaders.store(true, ordering: .releasing)
            return Array(surroundings.children.values)
        }
        for child in children { child.admit(readers) }
    }

    /// Those who are told of every write here.
    private var allWholeReaders: [WholeReaders] {
        surroundings.withLock { $0.outerReaders + ($0.wholeReaders.map { [$0] } ?? []) }
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
        guard hasWholeReaders.load(ordering: .acquiring) else { return }
        for readers in allWholeReaders { readers.willSet() }
    }

    /// Tells the observers of a field that it has changed.
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

    // MARK: - What was read

    /// The places below, as far as somebody asked for them.
    var existingChildren: [Step: ObservedPlace] { surroundings.withLock { $0.children } }

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
