//! The binary: hands the arguments to the face and takes its exit status.

// A scan makes and drops many small values on all threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    restartlint::face::main()
}
