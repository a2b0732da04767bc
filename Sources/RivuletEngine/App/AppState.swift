public import RivuletObservation

/// The state of one session in two halves: `p` is stored, `t` is in memory only.
///
/// The halves may be plain structs, for a `UIStateManager`. If both are `@ObservableState`, so is the whole: it can
/// be hosted, recorded and streamed. Its JSON is `{"p":{…},"t":{…}}`, so key paths begin with `/p/` or `/t/`. After a
/// restart `t` has its default again. The replacement of a half reports each differing field below it, not the half as
/// a whole. Source: <Tests/Rows/Systems.md#d-01>.
public struct AppState<Persistent: PersistentState, Transient: Equatable & Sendable>: Equatable, Sendable {
    // swift-format-ignore: NoLeadingUnderscores
    /// Records the writes of this value, and knows its observers.
    public var _$observationRegistrar = ObservationStateRegistrar()
    // The accessors for tracked halves, in AppState+Observation.swift, use these properties too.
    @usableFromInline var persistent: Persistent
    @usableFromInline var transient: Transient

    /// Joins the two halves of a new session.
    @inlinable
    public init(t: Transient, p: Persistent) {
        persistent = p
        transient = t
    }

    /// The persistent half.
    ///
    /// If an event with `persist` changes it, the change is on disk before the event is acknowledged.
    ///
    /// This property is for halves that do not track their own fields, and for generic code. Every write is a write of
    /// the whole half.
    @_disfavoredOverload
    @inlinable public var p: Persistent {
        get { _$observationRegistrar.read(HalfIndex.p, persistent) }
        set { _$observationRegistrar.set(HalfIndex.p, &persistent, to: newValue) }
        _modify {
            let wasAbsent = _$observationRegistrar.begin(HalfIndex.p, &persistent)
            defer { _$observationRegistrar.end(HalfIndex.p, &persistent, wasAbsent: wasAbsent) }
            yield &persistent
        }
    }

    /// The transient half: visible to clients like `p`, never written to disk.
    ///
    /// This property is for halves that do not track their own fields, and for generic code. Every write is a write of
    /// the whole half.
    @_disfavoredOverload
    @inlinable public var t: Transient {
        get { _$observationRegistrar.read(HalfIndex.t, transient) }
        set { _$observationRegistrar.set(HalfIndex.t, &transient, to: newValue) }
        _modify {
            let wasAbsent = _$observationRegistrar.begin(HalfIndex.t, &transient)
            defer { _$observationRegistrar.end(HalfIndex.t, &transient, wasAbsent: wasAbsent) }
            yield &transient
        }
    }
}

/// The positions of the halves among the fields.
@usableFromInline
enum HalfIndex {
    @inlinable static var p: Int { 0 }
    @inlinable static var t: Int { 1 }
}

/// A state half that is written to disk.
///
/// Source: <Tests/Rows/Systems.md#d-02>.
public protocol PersistentState: Codable, Equatable, Sendable {
    /// The version of the stored document's shape; 1 by default.
    ///
    /// It is stored beside every snapshot. The type itself handles evolution: absent fields take their defaults,
    /// unknown fields are ignored.
    var version: Int { get }
}

extension PersistentState {
    /// The first shape of a document.
    public var version: Int { 1 }
}

/// A transient half without fields.
@ObservableState
public struct EmptyTransient: Equatable, Sendable {
    /// Creates the only value of the type.
    public init() {}
}
