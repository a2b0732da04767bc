// This file owns how a field in a wrapper leaves a note that its value was changed: as it is written, read from JSON or initialised.

public import RivuletJSON

// Values that are in a state, or are written on their way there.
extension ObservationStateRegistrar {
    /// Notes whether a wrapper changed what was written as a whole; a later such write takes back an earlier note.
    @inlinable
    mutating func noteCoercion<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ type: Wrapper.Type,
        from written: Wrapper.WrappedValue,
        isCoerced: Bool
    ) where Wrapper.WrappedValue: JSONCodable {
        if isCoerced {
            coerced(field, type, from: written)
        } else if CoercionLog.hasNotes {
            forgetCoercion(field)
        }
    }

    @usableFromInline
    mutating func forgetCoercion(_ field: Int) {
        guard CoercionLog.hasNote(serial: mark.serial, field: field) else { return }
        standAlone()
        CoercionLog.edit { $0.forget(serial: mark.serial, field: field) }
    }

    /// Notes that a wrapper changed what was written, if a recorder wants to know and the field is in JSON at all.
    @usableFromInline
    mutating func coerced<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ type: Wrapper.Type,
        from written: Wrapper.WrappedValue
    ) where Wrapper.WrappedValue: JSONCodable {
        guard !Wrapper.isOmittedFromCoding, CoercionLog.isOpen else { return }
        standAlone()
        CoercionLog.edit { $0.note(serial: mark.serial, field: field, from: written.jsonBytes()) }
    }

    /// Gives a value that is in no place a serial of its own before its notes change: its copies have the old one, and its notes.
    private mutating func standAlone() {
        guard mark.serial == 0 || mark.isOwn else { return }
        let old = mark.serial
        mark = .ownSerial()
        if old != 0 { CoercionLog.edit { $0.copy(from: old, to: mark.serial) } }
    }
}

// Values that are read from JSON, of fields without a default.
extension ObservationStateRegistrar {
    /// Takes the wrapper of a value that was read.
    @inlinable
    public func decoded<Wrapper: ObservableWrapper>(
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue
    ) -> Wrapper { wrapper }

    /// Takes the wrapper of a value that was read, and notes what the wrapper made of it.
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

// Values that an initialiser is given. The compiler lets an init accessor reach no other member of the value, so these are static.
// It hands the default of a declaration to the init accessor too: that is the author's, and nobody's coercion.
extension ObservationStateRegistrar {
    /// Takes the wrapper of an initial value.
    @inlinable
    public static func initialized<Container, Wrapper: ObservableWrapper>(
        _ container: Container.Type,
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue
    ) -> Wrapper { wrapper }

    /// Takes the wrapper of an initial value, of a field with a default.
    @inlinable
    public static func initialized<Container, Wrapper: ObservableWrapper>(
        _ container: Container.Type,
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue,
        default standard: @autoclosure () -> Wrapper.WrappedValue
    ) -> Wrapper { wrapper }

    /// Takes the wrapper of an initial value, and notes what the wrapper made of it.
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

    /// Takes the wrapper of an initial value, and notes what the wrapper made of it, unless it is the default.
    @inlinable
    public static func initialized<Container, Wrapper: ObservableWrapper>(
        _ container: Container.Type,
        _ field: Int,
        _ wrapper: Wrapper,
        from value: Wrapper.WrappedValue,
        default standard: @autoclosure () -> Wrapper.WrappedValue
    ) -> Wrapper where Wrapper.WrappedValue: Equatable & JSONCodable {
        if !Wrapper.editsInPlace, wrapper.wrappedValue != value, value != standard() {
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
        let making = CoercionNotes.Making(
            container: ObjectIdentifier(container),
            index: field,
            to: wrapper.wrappedValue.jsonBytes()
        )
        CoercionLog.edit { $0.note(making, from: value.jsonBytes()) }
    }
}
