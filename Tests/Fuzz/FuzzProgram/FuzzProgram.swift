// The program that libFuzzer drives. `RIVULET_FUZZ_TARGET` names the target.

import FuzzTargets
import Glibc

private let target: FuzzTarget? = unsafe getenv("RIVULET_FUZZ_TARGET").flatMap { name in
    FuzzTarget(rawValue: unsafe String(cString: name))
}

/// Source: <https://llvm.org/docs/LibFuzzer.html#fuzz-target>.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let target else { fatalError("name a target in RIVULET_FUZZ_TARGET: \(FuzzTarget.allCases)") }
    // SAFETY: libFuzzer gives `count` bytes that are valid during the call.
    let fault = target.fault(in: unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    // libFuzzer keeps the bytes at which the program stops.
    if let fault { fatalError(fault) }
    return 0
}

/// Source: <https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library>.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The name that SwiftPM gives to the `main` of this module.
@_cdecl("FuzzProgram_main")
public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> CInt {
    var (count, arguments) = unsafe (count, arguments)
    return unsafe runDriver(&count, &arguments, fuzzOneInput)
}
