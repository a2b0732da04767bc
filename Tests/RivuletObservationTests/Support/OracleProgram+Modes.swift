// This file owns the random writes to enums: other cases, edits of payloads in place, payloads that move from case to
// case.

import RivuletObservation

extension OracleProgram {
    mutating func edit(_ mode: inout OracleMode, depth: Int) throws {
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            switch pick(8) {
            case 0: mode = fresh(depth: depth)
            case 1, 2, 3: try editPayload(&mode, depth: depth)
            case 4: keepOrPut(&mode)
            case 5: move(&mode)
            case 6: assign(&mode)
            default:
                var copy = mode
                try editPayload(&copy, depth: depth)
                if chance(2) { mode = copy }
            }
            if chance(80) { throw OracleInterruption() }
        }
    }

    private mutating func fresh(depth: Int) -> OracleMode {
        let inner = inners[pick(inners.count)]
        switch pick(11) {
        case 0: return .idle
        case 1: return .counting(small())
        case 2: return .editing(inner)
        case 3: return .reviewing(inner)
        case 4: return .maybe(chance(3) ? nil : inner)
        case 5: return .failed(code: small(), inner: inner)
        case 6: return .list([inner])
        case 7: return depth > 0 ? .nested(fresh(depth: depth - 1)) : .editing(OracleInner())
        case 8, 9: return .keyed([OracleElement(id: "a"), OracleElement(id: "b")])
        default: return .tag(OracleTag(a: small(), b: ""))
        }
    }

    private mutating func editPayload(_ mode: inout OracleMode, depth: Int) throws {
        switch mode {
        case .idle, .failed: mode.editing?.number += 1
        case .counting: mode.counting? += small()
        case .editing: try edit(&mode.editing)
        case .reviewing: try edit(&mode.reviewing)
        case .maybe: mode.maybe??.number += small()
        case .list: mode.list?.append(inners[pick(inners.count)])
        case .nested:
            guard var nested = mode.nested else { return }
            if depth > 0, chance(2) {
                try edit(&nested, depth: depth - 1)
                mode.nested = nested
            } else {
                mode.nested?.editing?.number += small()
                mode.nested?.nested?.reviewing?.text += "n"
            }
        case .tag: mode.tag?.a = small()
        case .keyed: edit(&mode.keyed)
        }
    }

    /// Edits a payload in place.
    ///
    /// The payload may be replaced or removed from inside the edit.
    private mutating func edit(_ payload: inout OracleInner?) throws {
        switch pick(5) {
        case 0: payload?.number = small()
        case 1: payload?.list.append(small())
        case 2: payload = chance(2) ? nil : inners[pick(inners.count)]
        default:
            guard var inner = payload else { return }
            if chance(2) { payload = nil }
            try edit(&inner)
            payload = inner
        }
    }

    private mutating func edit(_ keyed: inout Keyed<OracleElement>?) {
        let id = ["a", "b", "c"][pick(3)]
        switch pick(6) {
        case 0: keyed?.append(OracleElement(id: id))
        case 1: keyed?.remove(id: id)
        case 2: keyed?.move(id: id, to: 0)
        case 3: keyed = keyed.map { Keyed($0.reversed()) }
        case 4: keyed?[id: id]?.inner.number += small()
        default: keyed?[id: id]?.text += "t"
        }
    }

    /// Moves the payload of one case to another, and sometimes back.
    private mutating func move(_ mode: inout OracleMode) {
        guard let inner = mode.editing ?? mode.reviewing else { return }
        let wasEditing = mode.editing != nil
        mode = wasEditing ? .reviewing(inner) : .editing(inner)
        if chance(2) { mode.reviewing?.number = small() }
        if chance(3) { mode = wasEditing ? .editing(inner) : .reviewing(inner) }
    }

    /// Writes through the variable of another case.
    private mutating func assign(_ mode: inout OracleMode) {
        switch pick(4) {
        case 0: mode.editing = inners[pick(inners.count)]
        case 1: mode.editing = nil
        case 2: mode.counting = small()
        default: mode.reviewing = mode.editing
        }
    }

    private mutating func keepOrPut(_ mode: inout OracleMode) {
        let index = pick(modes.count)
        switch pick(3) {
        case 0:
            if modes.count > 4 { modes.removeFirst() }
            modes.append(mode)
        case 1: swap(&mode, &modes[index])
        default: mode = modes[index]
        }
    }
}
