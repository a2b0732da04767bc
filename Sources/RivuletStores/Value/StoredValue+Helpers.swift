// This file has the short forms of changes that depend on the present value of a stored value.

// Each function exists twice, like `set`: one suspends and throws the errors of ``StoredValue/set(_:)``, one blocks.

extension StoredValue {
    /// Replaces the part of the value at a key path, and stores the value.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) async throws {
        try await edit { ValueEdit.setting(path, to: part, in: $0) }
    }

    /// Replaces the part of the value at a key path, and blocks until the value is on disk.
    public func set<Part: Sendable>(_ path: any WritableKeyPath<Item, Part> & Sendable, to part: Part) {
        edit { ValueEdit.setting(path, to: part, in: $0) }
    }
}

extension StoredValue where Item == Bool {
    /// Stores the opposite.
    public func toggle() async throws {
        try await edit { !$0 }
    }

    /// Stores the opposite, and blocks until it is on disk.
    public func toggle() {
        edit { !$0 }
    }
}

extension StoredValue {
    /// Appends an element.
    public func append<Element: Sendable>(_ element: Element) async throws where Item == [Element] {
        try await edit { $0 + [element] }
    }

    /// Appends an element, and blocks until it is on disk.
    public func append<Element: Sendable>(_ element: Element) where Item == [Element] {
        edit { $0 + [element] }
    }

    /// Removes all elements that equal this one, or appends it if there are none.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) async throws where Item == [Element] {
        try await edit { ValueEdit.togglingPresence(of: element, in: $0) }
    }

    /// Removes all elements that equal this one, or appends it if there are none, and blocks until it is on disk.
    public func togglePresence<Element: Equatable & Sendable>(_ element: Element) where Item == [Element] {
        edit { ValueEdit.togglingPresence(of: element, in: $0) }
    }

    /// Replaces the first element that equals the old one.
    ///
    /// Returns false and writes nothing if there is no such element.
    @discardableResult
    public func replace<Element: Equatable & Sendable>(_ old: Element, with new: Element) async throws -> Bool
    where Item == [Element] {
        try await edit { ValueEdit.replacing(old, with: new, in: $0) }
    }

    /// Replaces the first element that equals the old one, and blocks until it is on disk.
    ///
    /// Returns false if there is no such element, or if the storage refused the change.
    @discardableResult
    public func replace<Element: Equatable & Sendable>(_ old: Element, with new: Element) -> Bool
    where Item == [Element] {
        edit { ValueEdit.replacing(old, with: new, in: $0) }
    }

    /// Sets a key of the dictionary; nil removes the key.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) async throws
    where Item == [Key: Value] {
        try await edit { ValueEdit.updating(key, to: value, in: $0) }
    }

    /// Sets a key of the dictionary, and blocks until it is on disk; nil removes the key.
    public func update<Key: Sendable, Value: Sendable>(key: Key, value: Value?) where Item == [Key: Value] {
        edit { ValueEdit.updating(key, to: value, in: $0) }
    }
}
