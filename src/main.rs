//! The binary: hands the arguments to the face and takes its exit status.

// A scan makes and drops many small values on all threads; in huge pages they would take a third more room.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    restartlint::face::main()
}
