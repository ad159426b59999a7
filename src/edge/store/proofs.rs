//! What the coordinator leaves behind: incidents, and the proofs that were used up.

use rusqlite::{OptionalExtension, params};

use super::{Store, StoreError};

/// What an attempt to use a proof found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofUse {
    /// The proof was not used before; it is now.
    First,
    /// It was used before.
    Replayed,
}

/// A denial that is kept. `requester` is the incident's requester as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncidentRecord {
    /// Names the incident.
    pub incident_id: String,
    /// What kind of denial.
    pub kind: String,
    /// The reason code.
    pub code: String,
    /// The restart class that was asked for.
    pub restart_class: String,
    /// Who asked, as JSON text.
    pub requester: Option<String>,
    /// The fingerprint of the state that was denied.
    pub fingerprint: Option<String>,
    /// When (RFC 3339).
    pub at: String,
}

impl Store {
    /// Keeps an incident. When this returns, it is on the disk. Its id is a digest of the rest,
    /// so an incident of the same id is the same denial and is kept once.
    ///
    /// # Errors
    /// A failure of the store.
    pub fn record_incident(&mut self, incident: &IncidentRecord) -> Result<(), StoreError> {
        self.write(|store| {
            store.execute(
                "INSERT INTO incidents (incident_id, kind, code, restart_class, requester, fingerprint, at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (incident_id) DO NOTHING",
                params![
                    incident.incident_id,
                    incident.kind,
                    incident.code,
                    incident.restart_class,
                    incident.requester,
                    incident.fingerprint,
                    incident.at,
                ],
            )?;
            Ok(())
        })
    }

    /// The incidents, in the order of their time and id.
    ///
    /// # Errors
    /// A failure of the store, or an incident that cannot be read.
    pub fn incidents(&self) -> Result<Vec<IncidentRecord>, StoreError> {
        self.read(|store| {
            let mut statement = store.prepare(
                "SELECT incident_id, kind, code, restart_class, requester, fingerprint, at FROM incidents \
                 ORDER BY at, incident_id",
            )?;
            let incidents = statement
                .query_map([], |row| {
                    Ok(IncidentRecord {
                        incident_id: row.get(0)?,
                        kind: row.get(1)?,
                        code: row.get(2)?,
                        restart_class: row.get(3)?,
                        requester: row.get(4)?,
                        fingerprint: row.get(5)?,
                        at: row.get(6)?,
                    })
                })?
                .collect::<Result<_, _>>()?;
            Ok(incidents)
        })
    }

    /// Uses a proof up. Of several processes that try at once exactly one gets [`ProofUse::First`].
    ///
    /// # Errors
    /// A failure of the store; then the proof must not be taken as unused.
    pub fn use_proof(
        &mut self,
        proof_id: &str,
        restart_class: &str,
        fingerprint: &str,
        used_at: &str,
    ) -> Result<ProofUse, StoreError> {
        self.write(|store| {
            let inserted = store.execute(
                "INSERT INTO used_proofs (proof_id, restart_class, fingerprint, used_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (proof_id) DO NOTHING",
                params![proof_id, restart_class, fingerprint, used_at],
            )?;
            Ok(if inserted == 1 { ProofUse::First } else { ProofUse::Replayed })
        })
    }

    /// Whether a proof was used before. To use it, call [`Store::use_proof`]: between asking and
    /// using, another process may.
    ///
    /// # Errors
    /// A failure of the store.
    pub fn proof_used(&self, proof_id: &str) -> Result<bool, StoreError> {
        self.read(|store| {
            let found = store
                .query_row("SELECT 1 FROM used_proofs WHERE proof_id = ?1", params![proof_id], |_| Ok(()))
                .optional()?;
            Ok(found.is_some())
        })
    }
}
