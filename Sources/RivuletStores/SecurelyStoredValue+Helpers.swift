// Part of Rivulet. See README.md for the architecture.
// Owns the short forms of changes that depend on what a securely stored value is.

// Each is there twice, suspending or blocking; all throw as `set` does.

extension SecurelyStoredValue {
    /// Stores the value with another part at a key path.
    ///
    /// - Throws: also ``KeychainError/couldNotAccessKeychain`` where there is no value.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) async throws {
        _ = try await box.change { ValueEdit.setting(path, to: part, in: try $0.orNoAccess()) }
    }

    /// Stores the value with another part at a key path, and blocks until it is on disk.
    ///
    /// - Throws: also ``KeychainError/couldNotAccessKeychain`` where there is no value.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) throws {
        _ = try box.changeNow { ValueEdit.setting(path, to: part, in: try $0.orNoAccess()) }
    }
}

extension SecurelyStoredValue where Item == Bool {
    /// Stores the opposite.
    ///
    /// - Throws: also ``KeychainError/couldNotAccessKeychain`` where there is no value.
    public func toggle() async throws {
        _ = try await box.change { .some(!(try $0.orNoAccess())) }
    }

    /// Stores the opposite, and blocks until it is on disk.
    ///
    /// - Throws: also ``KeychainError/couldNotAccessKeychain`` where there is no value.
    public func toggle() throws {
        _ = try box.changeNow { .some(!(try $0.orNoAccess())) }
    }
}

extension SecurelyStoredValue {
    /// Adds an element at the end, of an empty array where there is no value.
    public func append<Element: Sendable>(_ element: Element) async throws where Item == [Element] {
        _ = try await box.change { ($0 ?? []) + [element] }
    }

    /// Adds an element at the end, of an empty array where there is no value, and blocks until it is on disk.
    public func append<Element: Sendable>(_ element: Element) throws where Item == [Element] {
        _ = try box.changeNow { ($0 ?? []) + [element] }
    }

    /// Removes all elements that equal this one, or adds it at the end where there is none.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) async throws where Item == [Element] {
        _ = try await box.change { ValueEdit.togglingPresence(of: element, in: $0 ?? []) }
    }

    /// Removes all elements that equal this one, or adds it at the end where there is none, and blocks until it is on disk.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) throws where Item == [Element] {
        _ = try box.changeNow { ValueEdit.togglingPresence(of: element, in: $0 ?? []) }
    }

    /// Puts an element in the place of the first that equals the old one; false, with nothing written: there is none, or no value.
    @discardableResult
    public func replace<Element: Equatable & Sendable>(_ old: Element, with new: Element) async throws -> Bool
    where Item == [Element] {
        let change = try await box.change { elements in
            guard let elements, let edited = ValueEdit.replacing(old, with: new, in: elements) else { return nil }
            return .some(edited)
        }
        return change.isWritten
    }

    /// The same, and blocks until it is on disk.
    @discardableResult
    public func replace<Element: Equatable & Sendable>(_ old: Element, with new: Element) throws -> Bool
    where Item == [Element] {
        let change = try box.changeNow { elements in
            guard let elements, let edited = ValueEdit.replacing(old, with: new, in: elements) else { return nil }
            return .some(edited)
        }
        return change.isWritten
    }

    /// Gives a key a value, in an empty dictionary where there is no value; nil removes the key.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) async throws
    where Item == [Key: Value] {
        _ = try await box.change { ValueEdit.updating(key, to: value, in: $0 ?? [:]) }
    }

    /// Gives a key a value, in an empty dictionary where there is no value, nil removes the key, and blocks until it is on disk.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) throws where Item == [Key: Value] {
        _ = try box.changeNow { ValueEdit.updating(key, to: value, in: $0 ?? [:]) }
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
