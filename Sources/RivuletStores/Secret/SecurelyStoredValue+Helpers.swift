// This file has the short forms of changes that depend on the present value of a securely stored value.

// Each function exists twice, suspending and blocking. All throw the errors of `set`, and `couldNotAccessKeychain` if
// no key opens the stored value. Otherwise a new value would overwrite the stored value, which a key that was not given
// may still open.

extension SecurelyStoredValue {
    /// Replaces the part of the value at a key path, and stores the value.
    ///
    /// - Throws: Also ``KeychainError/couldNotAccessKeychain`` if there is no value.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) async throws {
        try await edit { ValueEdit.setting(path, to: part, in: try $0.orNoAccess()) }
    }

    /// Replaces the part of the value at a key path, and blocks until the value is on disk.
    ///
    /// - Throws: Also ``KeychainError/couldNotAccessKeychain`` if there is no value.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) throws {
        try edit { ValueEdit.setting(path, to: part, in: try $0.orNoAccess()) }
    }
}

extension SecurelyStoredValue where Item == Bool {
    /// Stores the opposite.
    ///
    /// - Throws: Also ``KeychainError/couldNotAccessKeychain`` if there is no value.
    public func toggle() async throws {
        try await edit { .some(!(try $0.orNoAccess())) }
    }

    /// Stores the opposite, and blocks until it is on disk.
    ///
    /// - Throws: Also ``KeychainError/couldNotAccessKeychain`` if there is no value.
    public func toggle() throws {
        try edit { .some(!(try $0.orNoAccess())) }
    }
}

extension SecurelyStoredValue {
    /// Appends an element to the array, or to an empty array if there is no value.
    public func append<Element: Sendable>(_ element: Element) async throws where Item == [Element] {
        try await edit { ($0 ?? []) + [element] }
    }

    /// Appends an element to the array, or to an empty array if there is no value, and blocks until it is on disk.
    public func append<Element: Sendable>(_ element: Element) throws where Item == [Element] {
        try edit { ($0 ?? []) + [element] }
    }

    /// Removes all elements that equal this one, or appends it if there are none.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) async throws where Item == [Element] {
        try await edit { ValueEdit.togglingPresence(of: element, in: $0 ?? []) }
    }

    /// Removes all elements that equal this one, or appends it if there are none, and blocks until it is on disk.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) throws where Item == [Element] {
        try edit { ValueEdit.togglingPresence(of: element, in: $0 ?? []) }
    }

    /// Replaces the first element that equals the old one.
    ///
    /// Returns false and writes nothing if there is no such element, or no value.
    @discardableResult
    public func replace<Element: Equatable & Sendable>(_ old: Element, with new: Element) async throws -> Bool
    where Item == [Element] {
        try await edit { elements in
            guard let elements, let edited = ValueEdit.replacing(old, with: new, in: elements) else { return nil }
            return .some(edited)
        }
    }

    /// Replaces the first element that equals the old one, and blocks until it is on disk.
    ///
    /// Returns false and writes nothing if there is no such element, or no value.
    @discardableResult
    public func replace<Element: Equatable & Sendable>(_ old: Element, with new: Element) throws -> Bool
    where Item == [Element] {
        try edit { elements in
            guard let elements, let edited = ValueEdit.replacing(old, with: new, in: elements) else { return nil }
            return .some(edited)
        }
    }

    /// Sets a key of the dictionary, or of an empty dictionary if nothing is stored; nil removes the key.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) async throws
    where Item == [Key: Value] {
        try await edit { ValueEdit.updating(key, to: value, in: $0 ?? [:]) }
    }

    /// Sets a key of the dictionary, or of an empty dictionary if nothing is stored; nil removes the key.
    ///
    /// The call blocks until the dictionary is on disk.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) throws where Item == [Key: Value] {
        try edit { ValueEdit.updating(key, to: value, in: $0 ?? [:]) }
    }
}

extension Optional {
    /// Returns the value.
    ///
    /// - Throws: ``KeychainError/couldNotAccessKeychain`` if there is none.
    fileprivate func orNoAccess() throws(KeychainError) -> Wrapped {
        guard let self else { throw .couldNotAccessKeychain }
        return self
    }
}
