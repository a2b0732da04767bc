// This file has the short forms of changes that depend on the present value of a securely stored value.

// Each one exists twice, suspending and blocking. All throw the errors of `set`, and `couldNotAccessKeychain` if no
// key opens the stored value. A new value would lose the stored one, which may only need the older key.

extension SecurelyStoredValue {
    /// Stores the value with another part at a key path.
    ///
    /// - Throws: Also ``KeychainError/couldNotAccessKeychain`` if there is no value.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) async throws {
        try await edit { ValueEdit.setting(path, to: part, in: try $0.orNoAccess()) }
    }

    /// Stores the value with another part at a key path, and blocks until it is on disk.
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
    /// Appends an element to the array; to an empty array if there is no value.
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

    /// Sets the value of a key, in an empty dictionary if there is no value; nil removes the key.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) async throws
    where Item == [Key: Value] {
        try await edit { ValueEdit.updating(key, to: value, in: $0 ?? [:]) }
    }

    /// Sets the value of a key, in an empty dictionary if there is no value, and blocks until it is on disk; nil
    /// removes the key.
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
