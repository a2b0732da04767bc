// This file owns the coercion records of fields in wrappers: for values that are written, read from JSON or
// initialised.

public import RivuletJSON

// Values that are in a state, or are written before they are put into one.
extension ObservationStateRegistrar {
    /// Records a coercion of a whole write; a later write that the wrapper leaves unchanged removes the record.
    @inlinable
    mutating func recordCoercion<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ type: Wrapper.Type,
        from written: Wrapper.WrappedValue,
        isCoerced: Bool
    ) where Wrapper.WrappedValue: JSONCodable {
        if isCoerced {
            coerced(field, type, from: written)
        } else if CoercionLog.hasRecords {
            forgetCoercion(field)
        }
    }

    @usableFromInline
    mutating func forgetCoercion(_ field: Int) {
        guard CoercionLog.hasNote(serial: mark.serial, field: field) else { return }
        standAlone()
        CoercionLog.edit { $0.forget(serial: mark.serial, field: field) }
    }

    /// Records that a wrapper changed a written value, if a run is open and the field is in JSON.
    @usableFromInline
    mutating func coerced<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ type: Wrapper.Type,
        from written: Wrapper.WrappedValue
    ) where Wrapper.WrappedValue: JSONCodable {
        guard !Wrapper.isOmittedFromCoding, CoercionLog.isOpen else { return }
        standAlone()
        CoercionLog.edit { $0.record(serial: mark.serial, field: field, from: written.jsonBytes()) }
    }

    /// Gives a value without a location a serial of its own before its records change, because its copies share the old
    /// serial and the old records.
    private mutating func standAlone() {
        guard mark.serial == 0 || mark.isOwn else { return }
        let old = mark.serial
        mark = .ownSerial()
        if old != 0 { CoercionLog.edit { $0.copy(from: old, to: mark.serial) } }
    }
}

// Values of fields without a default that are read from JSON.
extension ObservationStateRegistrar {
    /// Returns the wrapper of a value that was read.
    @inlinable
    public func decoded<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue
    ) -> Wrapper { wrapper }

    /// Returns the wrapper of a value that was read, and records a coercion.
    @inlinable
    public mutating func decoded<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue
    ) -> Wrapper where Wrapper.WrappedValue: Equatable & JSONCodable {
        if !Wrapper.editsInPlace, wrapper.wrappedValue != value { coerced(field, Wrapper.self, from: value) }
        return wrapper
    }
}

// Values that an initialiser is given. The compiler lets an init accessor reach no other member of the value, so these
// functions are static. The compiler also passes the default of a declaration to the init accessor. If the wrapper
// changes this default, that is no coercion, because the author of the type chose the default.
extension ObservationStateRegistrar {
    /// Returns the wrapper of an initial value.
    @inlinable
    public static func initialized<Container, Wrapper: ObservableWrapper>(
        _ container: Container.Type,
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue
    ) -> Wrapper { wrapper }

    /// Returns the wrapper of an initial value, for a field with a default.
    @inlinable
    public static func initialized<Container, Wrapper: ObservableWrapper>(
        _ container: Container.Type,
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue,
        default defaultValue: @autoclosure () -> Wrapper.WrappedValue
    ) -> Wrapper { wrapper }

    /// Returns the wrapper of an initial value, and records a coercion.
    @inlinable
    public static func initialized<Container, Wrapper: ObservableWrapper>(
        _ container: Container.Type,
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue
    ) -> Wrapper where Wrapper.WrappedValue: Equatable & JSONCodable {
        if !Wrapper.editsInPlace, wrapper.wrappedValue != value { coerced(container, field, wrapper, from: value) }
        return wrapper
    }

    /// Returns the wrapper of an initial value, and records a coercion, unless the value is the default.
    @inlinable
    public static func initialized<Container, Wrapper: ObservableWrapper>(
        _ container: Container.Type,
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue,
        default defaultValue: @autoclosure () -> Wrapper.WrappedValue
    ) -> Wrapper where Wrapper.WrappedValue: Equatable & JSONCodable {
        if !Wrapper.editsInPlace, wrapper.wrappedValue != value, value != defaultValue() {
            coerced(container, field, wrapper, from: value)
        }
        return wrapper
    }

    @usableFromInline
    static func coerced<Container, Wrapper: ObservableWrapper>(
        _ container: Container.Type,
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue
    ) where Wrapper.WrappedValue: JSONCodable {
        guard !Wrapper.isOmittedFromCoding, CoercionLog.isOpen else { return }
        let making = CoercionRecords.Making(
            container: ObjectIdentifier(container),
            index: field,
            to: wrapper.wrappedValue.jsonBytes()
        )
        CoercionLog.edit { $0.record(making, from: value.jsonBytes()) }
    }
}
