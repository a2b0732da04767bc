/// Pure edits, which return the changed value; nil if nothing is to be written.
enum ValueEdit {
    static func setting<Root, Part>(_ path: WritableKeyPath<Root, Part>, to part: Part, in root: Root) -> Root {
        var root = root
        root[keyPath: path] = part
        return root
    }

    static func togglingPresence<Element: Equatable>(of element: Element, in elements: [Element]) -> [Element] {
        elements.contains(element) ? elements.filter { $0 != element } : elements + [element]
    }

    static func replacing<Element: Equatable>(_ old: Element, with new: Element, in elements: [Element]) -> [Element]? {
        guard let index = elements.firstIndex(of: old) else { return nil }
        var elements = elements
        elements[index] = new
        return elements
    }

    static func updating<Key, Value>(_ key: Key, to value: Value?, in members: [Key: Value]) -> [Key: Value] {
        var members = members
        members[key] = value
        return members
    }
}
