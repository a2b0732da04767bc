// Part of Rivulet. See README.md for the architecture.
// Checks that a run says of fields in no JSON whether they were written.

import RivuletJSON
import RivuletObservation
import Testing

@ObservableState
struct Vault: Equatable, Sendable {
    var title = ""
    @ObservableStateWrapper(OmitCoding<Int>.self) @ObservationStateIgnored
    var pin: Int = 0
    var door = VaultDoor()
    var doors: [VaultDoor] = []
    var boxes: Keyed<VaultBox> = []
    @ObservationStateIgnored var cached = 0
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

@Suite struct OmittedWriteTests {
    private static let vault: Vault = {
        var vault = Vault()
        vault.doors = [VaultDoor()]
        vault.boxes = [VaultBox(id: "a")]
        return vault
    }()

    @Test(
        arguments: [
            { $0.pin = 1 }, { $0.door.code = 2 }, { $0.door = VaultDoor(code: 3) }, { $0.doors[0].code = 4 },
            { $0.boxes[id: "a"]?.content = "gold" }, { $0.boxes = [VaultBox(id: "a", content: "gold")] },
            {
                var other = $0
                other.pin = 5
                $0 = other
            },
        ] as [@Sendable (inout Vault) -> Void]
    )
    func `a run says that a field in no JSON was written, and no change tells which`(
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
            { $0.cached = 1 },
        ] as [@Sendable (inout Vault) -> Void]
    )
    func `a run that writes other fields does not`(_ edit: @Sendable (inout Vault) -> Void) {
        var vault = Self.vault
        #expect(!ChangeRecorder.record(&vault, edit).hasOmittedWrite)
    }
}
