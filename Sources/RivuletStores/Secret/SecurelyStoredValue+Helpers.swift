// Owns the short forms of changes that depend on what a securely stored value is.

// Each is there twice, suspending or blocking; all throw as `set` does, and `couldNotAccessKeychain` where there is a value that no key
// opens: to begin anew would lose it, when all it may need is the older key.

extension SecurelyStoredValue {
    /// Stores the value with another part at a key path.
    ///
    /// - Throws: also ``KeychainError/couldNotAccessKeychain`` where there is no value.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) async throws {
        try await edit { ValueEdit.setting(path, to: part, in: try $0.orNoAccess()) }
    }

    /// Stores the value with another part at a key path, and blocks until it is on disk.
    ///
    /// - Throws: also ``KeychainError/couldNotAccessKeychain`` where there is no value.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) throws {
        try edit { ValueEdit.setting(path, to: part, in: try $0.orNoAccess()) }
    }
}

extension SecurelyStoredValue where Item == Bool {
    /// Stores the opposite.
    ///
    /// - Throws: also ``KeychainError/couldNotAccessKeychain`` where there is no value.
    public func toggle() async throws {
        try await edit { .some(!(try $0.orNoAccess())) }
    }

    /// Stores the opposite, and blocks until it is on disk.
    ///
    /// - Throws: also ``KeychainError/couldNotAccessKeychain`` where there is no value.
    public func toggle() throws {
        try edit { .some(!(try $0.orNoAccess())) }
    }
}

extension SecurelyStoredValue {
    /// Adds an element at the end, of an empty array where there is no value.
    public func append<Element: Sendable>(_ element: Element) async throws where Item == [Element] {
        try await edit { ($0 ?? []) + [element] }
    }

    /// Adds an element at the end, of an empty array where there is no value, and blocks until it is on disk.
    public func append<Element: Sendable>(_ element: Element) throws where Item == [Element] {
        try edit { ($0 ?? []) + [element] }
    }

    /// Removes all elements that equal this one, or adds it at the end where there is none.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) async throws where Item == [Element] {
        try await edit { ValueEdit.togglingPresence(of: element, in: $0 ?? []) }
    }

    /// Removes all elements that equal this one, or adds it at the end where there is none, and blocks until it is on disk.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) throws where Item == [Element] {
        try edit { ValueEdit.togglingPresence(of: element, in: $0 ?? []) }
    }

    /// Puts an element in the place of the first that equals the old one; false, with nothing written: there is none, or no value.
    @discardableResult
    public func replace<Element: Equatable & Sendable>(_ old: Element, with new: Element) async throws -> Bool
    where Item == [Element] {
        try await edit { elements in
            guard let elements, let edited = ValueEdit.replacing(old, with: new, in: elements) else { return nil }
            return .some(edited)
        }
    }

    /// The same, and blocks until it is on disk.
    @discardableResult
    public func replace<Element: Equatable & Sendable>(_ old: Element, with new: Element) throws -> Bool
    where Item == [Element] {
        try edit { elements in
            guard let elements, let edited = ValueEdit.replacing(old, with: new, in: elements) else { return nil }
            return .some(edited)
        }
    }

    /// Gives a key a value, in an empty dictionary where there is no value; nil removes the key.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) async throws
    where Item == [Key: Value] {
        try await edit { ValueEdit.updating(key, to: value, in: $0 ?? [:]) }
    }

    /// Gives a key a value, in an empty dictionary where there is no value, nil removes the key, and blocks until it is on disk.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) throws where Item == [Key: Value] {
        try edit { ValueEdit.updating(key, to: value, in: $0 ?? [:]) }
    }
}

extension Optional {
    /// The value.
    ///
    /// - Throws: ``KeychainError/couldNotAccessKeychain`` where there is none.
    fileprivate func orNoAccess() throws(KeychainError) -> Wrapped {
        guard let self else { throw .couldNotAccessKeychain }
        return self
    }
}
