// This file makes an `AppState` with tracked halves a tracked state, as `@ObservableState` would do.

public import RivuletJSON
public import RivuletObservation

// The macro cannot generate this code. For a generic field it generates one set of accessors, but tracked halves need
// other accessors than plain halves. The compiler prefers these accessors wherever it knows that the halves are
// tracked.
extension AppState where Persistent: ObservableState, Transient: ObservableState {
    /// The persistent half.
    ///
    /// If an event with `persist` changes it, the change is on disk before the event is acknowledged.
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

extension AppState: ObservableState, StateNode, Generated.StateBearing, JSONCodable, Encodable, Decodable
where Persistent: ObservableState, Transient: ObservableState {
    // swift-format-ignore: NoLeadingUnderscores
    /// The two halves.
    public static var _$fields: [StateField] {
        [StateField("p", \Self.persistent), StateField("t", \Self.transient, isTransient: true)]
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Returns the position of a half.
    public static func _$position(of name: String) -> Int? {
        switch name {
        case "p": HalfIndex.p
        case "t": HalfIndex.t
        default: nil
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Reads a half.
    public mutating func _$edit(
        _ position: Int,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) {
        switch position {
        case HalfIndex.p: try _$observationRegistrar.edit(HalfIndex.p, &persistent, edit, json: &reader)
        case HalfIndex.t: try _$observationRegistrar.edit(HalfIndex.t, &transient, edit, json: &reader)
        default: break
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Offers both halves to the collector; a replaced half is compared field by field.
    @inlinable
    public static func _$collect(from old: Self, to new: Self, into collector: inout Generated.ChangeCollector) {
        collect(old.persistent, new.persistent, old.transient, new.transient, into: &collector)
    }

    /// Offers the given halves to the collector.
    ///
    /// The halves are parameters because, in generic code, each read of a stored half looks up its offset first.
    @inline(never)
    @usableFromInline
    static func collect(
        _ oldPersistent: Persistent,
        _ newPersistent: Persistent,
        _ oldTransient: Transient,
        _ newTransient: Transient,
        into collector: inout Generated.ChangeCollector
    ) {
        if collector.visits(HalfIndex.p) {
            collector.field(HalfIndex.p, "/p", oldPersistent, newPersistent, isReplaceable: true)
        }
        if collector.visits(HalfIndex.t) {
            collector.field(HalfIndex.t, "/t", oldTransient, newTransient, isTransient: true, isReplaceable: true)
        }
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Completes the deferred work of the halves that the last run of the change recorder wrote.
    @inlinable
    public mutating func _$settle() {
        guard _$observationRegistrar.beginSettling() else { return }
        _$observationRegistrar.settle(HalfIndex.p, &persistent)
        _$observationRegistrar.settle(HalfIndex.t, &transient)
        _$observationRegistrar.endSettling()
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Writes `"p":{…},"t":{…}`; a document for the disk has no `t`.
    @inlinable
    public func _$encode(_ fields: inout Generated.FieldSelection, into writer: inout JSONWriter) {
        fields.write(HalfIndex.p, "p", persistent, into: &writer)
        if writer.includesTransient { fields.write(HalfIndex.t, "t", transient, into: &writer) }
    }

    /// Reads both halves.
    ///
    /// - Throws: An error of the document; `missing` if a half is missing.
    public init(json reader: inout JSONReader) throws(JSONError) {
        var p: Persistent?
        var t: Transient?
        let others = try Generated.StateCoding.members(of: &reader) {
            (name: String, reader: inout JSONReader) throws(JSONError) -> Bool in
            switch name {
            case "p": try Generated.StateCoding.read(into: &p, from: &reader)
            case "t": try Generated.StateCoding.read(into: &t, from: &reader)
            default: return false
            }
            return true
        }
        let persistent = try Generated.StateCoding.require(p, "p", in: reader)
        self.init(t: try Generated.StateCoding.require(t, "t", in: reader), p: persistent)
        try _$merge(others)
    }
}
