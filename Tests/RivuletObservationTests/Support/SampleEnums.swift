// This file owns the enums of every shape in states, shared by the tests of this module.

public import RivuletJSON
public import RivuletObservation

@ObservableState
enum Mode: Hashable, Sendable {
    case idle
    case editing(Address)
    case failed(code: Int, reason: String = "unknown")
    case counting(Int)
    case table([String: Int])
    case maybe(Address?)
    case plain(SamplePlain)
    case screen(Screens)
    case `default`
    case pair(Int, Address)
    case labelled(address: Address)
    case pages(Keyed<Page>)
}

/// An element of a collection in a case.
@ObservableState
struct Page: Hashable, Sendable, Identifiable {
    var id = ""
    var text = ""
}

/// An enum in an enum, with a payload-less case.
@ObservableState
enum Screens: Hashable, Sendable {
    case home
    case detail(Address)
}

/// An enum in which every case has values, so a written nil cannot set another case.
@ObservableState
enum Both: Equatable, Sendable {
    case left(Address)
    case right(Address)
}

/// An enum with a single case.
///
/// A switch over it needs no default.
@ObservableState
enum Only: Equatable, Sendable {
    case one(Address)
}

/// An enum without payloads.
@ObservableState
enum Names: Equatable, Sendable {
    case all
    case open
}

/// A public, generic and recursive enum, with a member of a case's name.
@ObservableState
public indirect enum Load<Value: JSONCodable & Codable & Sendable & Equatable>: Equatable, Sendable {
    case loading
    /// The load is complete.
    case loaded(Value)
    case again(Load<Value>)
    case failed(String)

    /// A handwritten member, so that the macro generates none.
    public var failed: Bool { if case .failed = self { true } else { false } }
}

@ObservableState
struct Workspace: Equatable, Sendable {
    var title = "t"
    var mode = Mode.idle
    var maybe: Mode?
    var both = Both.left(Address())
    var load: Load<Int> = .loading
    var names = Names.all
    @ObservableStateWrapper(Box<Mode>.self)
    @ObservationStateIgnored
    var boxed: Mode = .editing(Address())
    @Transient var passing = Mode.editing(Address())
    @Replaceable var section = Mode.editing(Address())
    var ledger = Ledger.closed
}

/// A payload with a transient field and a large one.
@ObservableState
struct Book: Equatable, Sendable {
    var entries: [Int] = []
    @Transient var isOpen = false
}

@ObservableState
enum Ledger: Equatable, Sendable {
    case closed
    case open(Book)
}
