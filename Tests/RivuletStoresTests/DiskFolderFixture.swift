// A separate folder for a test of files, on a disk that can be made to fail.

import CStorageFaults
import Foundation
import ItemStorageConformance
import RivuletStores
import Synchronization

/// A folder that exists as long as this value, and its open engine.
final class DiskFolderFixture: Sendable {
    let path: String
    private let engine = Mutex<DiskStorageEngine?>(nil)

    init() throws {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        let folder = base.appendingPathComponent("rivulet-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        unsafe rivulet_faults_forget(path)
        engine.withLock { $0?.close() }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            print("could not remove \(path): \(error)")
        }
    }

    /// The path of the engines' items.
    var directory: String { path + "/items" }

    /// Closes the earlier engine, and opens another.
    func open(
        time: ItemTime = ItemTime(),
        _ change: (inout DiskStorageLimits) -> Void = { _ in }
    ) -> DiskStorageEngine {
        var limits = DiskStorageLimits()
        change(&limits)
        let next = DiskStorageEngine(directory: directory, limits: limits, clock: { time.now })
        engine.withLock { engine in
            engine?.close()
            engine = next
        }
        return next
    }

    /// Lets a number of file changes succeed, and makes later ones fail.
    ///
    /// With nil, all changes succeed.
    func failDisk(after changes: Int?, error: Int32 = EIO) {
        let result = unsafe rivulet_faults_fail_after(path, changes ?? -1, error)
        precondition(result == 0, "too many folders are watched")
    }

    /// All files below a collection's folder, by name.
    func files(of collection: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(collection)").sorted()
    }

    /// Changes one byte of the only file of a collection that contains these bytes.
    func damage(_ collection: String, fileWith text: String, at offset: (Range<Data.Index>) -> Int) throws {
        for name in try files(of: collection) {
            let url = URL(fileURLWithPath: "\(directory)/\(collection)/\(name)")
            var data = try Data(contentsOf: url)
            guard let range = data.range(of: Data(text.utf8)) else { continue }
            data[offset(range)] ^= 1
            try data.write(to: url)
        }
    }
}
