// Checks that a run reports writes to omitted fields.

import RivuletJSON
import RivuletObservation
import Testing

@ObservableState
struct Vault: Equatable, Sendable {
    var title = ""
    @ObservableStateWrapper(OmitCoding<Int>.self) @ObservationStateIgnored
    var pin: Int = 0
    @ObservableStateWrapper(OmitCoding<String?>.self) @ObservationStateIgnored
    var note: String?
    @ObservableStateWrapper(OmitCoding<VaultPair>.self) @ObservationStateIgnored
    var pair: VaultPair = VaultPair(key: 1, rest: 1)
    var door = VaultDoor()
    var doors: [VaultDoor] = []
    var boxes: Keyed<VaultBox> = []
    var floors: [Int: VaultDoor] = [:]
    var wings: [String: [VaultDoor]] = [:]
    var mode = VaultMode.shut
    var exit: VaultDoor?
    @ObservationStateIgnored var cached = 0
}

/// A value with an `==` that ignores a part of it.
struct VaultPair: Codable, Equatable, Sendable {
    var key = 0
    var rest = 0

    static func == (first: VaultPair, second: VaultPair) -> Bool { first.key == second.key }
}

/// A value that is not Equatable.
struct VaultHeap: Codable, Sendable {
    var size = 0
}

@ObservableState
struct VaultCellar: Sendable {
    @ObservableStateWrapper(OmitCoding<VaultHeap>.self) @ObservationStateIgnored
    var heap: VaultHeap = VaultHeap()
}

@ObservableState
enum VaultMode: Equatable, Sendable {
    case shut
    case open([VaultDoor], by: String)
}

@ObservableState
struct VaultDoor: Equatable, Sendable {
    var isOpen = false
    @ObservableStateWrapper(OmitCoding<Int>.self) @ObservationStateIgnored
    var code: Int = 0
}

@ObservableState
struct VaultBox: Identifiable, Equatable, Sendable {
    var id: String
    @ObservableStateWrapper(OmitCoding<String>.self) @ObservationStateIgnored
    var content: String = ""
}

/// An element that is equal to any other with the same id.
@ObservableState
struct VaultLocker: Identifiable, Sendable {
    var id: String
    @ObservableStateWrapper(OmitCoding<String>.self) @ObservationStateIgnored
    var content: String = ""
}

extension VaultLocker: Equatable {
    static func == (first: VaultLocker, second: VaultLocker) -> Bool { first.id == second.id }
}

@ObservableState
struct VaultAnnex: Sendable {
    var lockers = [VaultLocker(id: "a")]
    var locker = VaultLocker(id: "a")
    var keyed: Keyed<VaultLocker> = [VaultLocker(id: "a")]
    var named = ["a": VaultLocker(id: "a")]
    var spare: VaultLocker? = VaultLocker(id: "a")
}

@Suite struct OmittedWriteTests {
    private static let vault: Vault = {
        var vault = Vault()
        vault.doors = [VaultDoor()]
        vault.boxes = [VaultBox(id: "a")]
        vault.floors = [1: VaultDoor()]
        vault.wings = ["east": [VaultDoor()]]
        vault.mode = .open([VaultDoor()], by: "me")
        vault.exit = VaultDoor()
        return vault
    }()

    @Test(
        arguments: [
            { $0.pin = 1 }, { $0.note = "x" }, { $0.door.code = 2 },
            { $0.door = VaultDoor(code: 3) }, { $0.doors[0].code = 4 },
            { $0.floors[1]?.code = 6 }, { $0.wings["east"]?[0].code = 7 }, { $0.exit?.code = 8 },
            { $0.mode = .open([VaultDoor(code: 9)], by: "me") },
            { $0.boxes[id: "a"]?.content = "gold" }, { $0.boxes = [VaultBox(id: "a", content: "gold")] },
            {
                var other = $0
                other.pin = 5
                $0 = other
            },
        ] as [@Sendable (inout Vault) -> Void]
    )
    func `a run reports that an omitted field was written, and has no change for it`(
        _ edit: @Sendable (inout Vault) -> Void
    ) {
        var vault = Self.vault
        let recording = ChangeRecorder.record(&vault, edit)
        #expect(recording.changes.isEmpty)
        #expect(recording.hasOmittedWrite)
        #expect(vault != Self.vault)
    }

    @Test(
        arguments: [
            { _ in }, { $0.title = "x" }, { $0.door.isOpen = true }, { $0.boxes.append(VaultBox(id: "b")) },
            { $0.cached = 1 }, { $0.pin = 0 }, { $0.pin += 0 }, { $0.note = nil }, { $0.door.code = 0 },
            { $0.door = VaultDoor() },
            { $0.doors[0].code = 0 }, { $0.doors = [VaultDoor()] }, { $0.floors[1]?.code = 0 }, { $0.exit?.code = 0 },
            { $0.exit = VaultDoor() }, { $0.wings["east"]?[0].code = 0 }, { $0.boxes[id: "a"]?.content = "" },
            { $0.boxes = [VaultBox(id: "a")] }, { $0.mode = .open([VaultDoor()], by: "me") },
            { $0.pair = VaultPair(key: 1, rest: 1) },
            { vault in
                let same = vault
                vault = same
            },
        ] as [@Sendable (inout Vault) -> Void]
    )
    func `a run that writes no omitted field reports none`(_ edit: @Sendable (inout Vault) -> Void) {
        var vault = Self.vault
        #expect(!ChangeRecorder.record(&vault, edit).hasOmittedWrite)
    }

    @Test(
        arguments: [
            { $0.doors[0].code }, { $0.doors.map(\.code).reduce(0, +) }, { $0.floors[1]?.code ?? 0 },
            { $0.wings["east"]?.first?.code ?? 0 }, { $0.door == VaultDoor(code: 0) ? 0 : 1 }, { $0.exit?.code ?? 0 },
            {
                if case .open(let doors, _) = $0.mode { doors[0].code } else { 0 }
            },
            {
                let door = $0.door
                return Mirror(reflecting: door).children.count == 0 ? 0 : 1
            },
        ] as [@Sendable (Vault) -> Int]
    )
    func `a value derived from omitted fields of nested values is computed again every time`(
        _ compute: @escaping @Sendable (Vault) -> Int
    ) {
        var vault = Self.vault
        var derived = vault.observe(compute)
        let recording = ChangeRecorder.record(&vault) {
            $0.doors[0].code = 1
            $0.floors[1]?.code = 1
            $0.wings["east"]?[0].code = 1
            $0.door.code = 1
            $0.exit?.code = 1
            $0.mode = .open([VaultDoor(code: 1)], by: "me")
        }
        let isComputed = derived.update(to: vault, after: recording.changes)
        #expect(recording.changes.isEmpty)
        #expect(isComputed)
        #expect(derived.value == 1)
    }

    @Test(
        arguments: [
            { $0.title.count }, { $0.door.isOpen ? 1 : 0 }, { $0.boxes.count }, { $0.exit?.isOpen == true ? 1 : 0 },
            { $0.boxes.count { $0.id.isEmpty } },
        ] as [@Sendable (Vault) -> Int]
    )
    func `a value derived from other fields is not computed again`(_ compute: @escaping @Sendable (Vault) -> Int) {
        var derived = Self.vault.observe(compute)
        let isComputed = derived.update(to: Self.vault, after: [])
        #expect(!isComputed)
    }

    @Test func `a write of an omitted field is reported though its == ignores the written part`() {
        var vault = Self.vault
        #expect(ChangeRecorder.record(&vault) { $0.pair.rest = 2 }.hasOmittedWrite)
    }

    @Test(
        arguments: [
            { $0.lockers[0].content = "gold" }, { $0.lockers = [VaultLocker(id: "a", content: "gold")] },
            { $0.locker = VaultLocker(id: "a", content: "gold") },
            { $0.keyed = [VaultLocker(id: "a", content: "gold")] }, { $0.keyed[id: "a"]?.content = "gold" },
            { $0.named["a"] = VaultLocker(id: "a", content: "gold") },
            { $0.spare?.content = "gold" },
        ] as [@Sendable (inout VaultAnnex) -> Void]
    )
    func `a write of an omitted field is reported though the == of its state compares ids only`(
        _ edit: @Sendable (inout VaultAnnex) -> Void
    ) {
        var annex = VaultAnnex()
        #expect(ChangeRecorder.record(&annex, edit).hasOmittedWrite)
    }

    @Test func `a write of an omitted field that is not Equatable is always reported`() {
        var cellar = VaultCellar()
        let recording = ChangeRecorder.record(&cellar) { $0.heap.size = 0 }
        #expect(recording.hasOmittedWrite)
    }
}
