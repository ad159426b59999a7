//! Randomness of the operating system, for ids that must never occur twice.

/// `prefix` and 128 random bits in lower-case hex.
///
/// # Errors
/// Where the system has no randomness to give.
pub fn fresh_id(prefix: &str) -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(format!("{prefix}{}", hex::encode(bytes)))
}
