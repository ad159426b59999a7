//! The evaluation: count, matrix, verdict and gate put together to one report.
//!
//! Each part stands in a module of its own; this one only combines their answers, and
//! none of them sees more than it needs.

use jiff::Timestamp;

use super::count::{Count, HEARTBEAT_WINDOW_S, View, count};
use super::matrix::{Authorization, authorize, target};
use super::reason::ReasonCode;
use super::report::{
    ApplyAuthorized, ApplyGate, Audit, Evidence, Incident, Never, Report, RequesterLine, Verdict,
};
use super::request::Request;
use super::scope::Scope;
use super::snapshot::Snapshot;
use super::verdict::{blast_radius, override_would_allow, verdict};
use crate::pass::authority::Authority;
use crate::pass::classes::{RestartClass, builtin};
use crate::pass::drain::gate::{Decision, GateCode, Offer, Present, Replay, gate};

/// What a checkout may configure. Authority is not among it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How old the last heartbeat of a live session may be, in seconds.
    pub heartbeat_window_s: i64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { heartbeat_window_s: HEARTBEAT_WINDOW_S }
    }
}

/// A question to the coordinator.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// What was listed.
    pub snapshot: &'a Snapshot,
    /// Where it came from.
    pub evidence: Evidence,
    /// What is asked for.
    pub request: &'a Request,
    /// What the environment of the process grants.
    pub authority: Authority,
    /// The present.
    pub now: Timestamp,
    /// What is configured.
    pub settings: Settings,
}

/// Whether an apply is asked for, and with what.
#[derive(Debug, Clone, Copy)]
pub enum Application<'a> {
    /// Only an answer; no proof and no key is read.
    DryRun,
    /// An apply, with what is offered to the drain gate.
    Apply(Offer<'a>),
}

/// Answers a question.
///
/// ```
/// use restartlint::pass::authority::Authority;
/// use restartlint::pass::impact::{Application, Question, Request, Settings, Snapshot, evaluate};
/// use restartlint::pass::impact::report::Evidence;
///
/// let snapshot = Snapshot::from_json(r#"{"schema":1,"taken_at":"2026-07-23T06:30:00Z","sessions":[],
///     "leases":[],"terminal_lock":null,"prior_recovery":[],"approvals":[],"open_markers":[],"listing_errors":[]}"#)?;
/// let request = Request::from_json(
///     r#"{"restart_class":"config_reload","requester":{"session_id":"s-ctl","role":"controller"}}"#)?;
/// let question = Question {
///     snapshot: &snapshot,
///     evidence: Evidence::Recorded,
///     request: &request,
///     authority: Authority::default(),
///     now: "2026-07-23T06:30:00Z".parse()?,
///     settings: Settings::default(),
/// };
/// let report = evaluate(question, Application::DryRun);
/// assert!(report.allow_restart);
/// assert!(!report.apply_authorized.get());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate(question: Question<'_>, application: Application<'_>) -> Report {
    let judged = judge(question);
    let (apply_gate, apply_authorized) = match application {
        Application::DryRun => (None, ApplyAuthorized::dry_run()),
        Application::Apply(offer) => {
            let gate = apply_gate(question, &judged, offer);
            let authorized = ApplyAuthorized::both(gate.drain_gate_allow, judged.allow_restart);
            (Some(gate), authorized)
        }
    };
    report(question, judged, apply_gate, apply_authorized)
}

/// What is decided before any gate: the same for a dry run and an apply.
struct Judged<'a> {
    class: Option<&'static RestartClass>,
    target: Option<&'a str>,
    count: Count,
    authorization: Authorization,
    verdict: Verdict,
    codes: Vec<ReasonCode>,
    allow_restart: bool,
    fingerprint: String,
}

fn judge(question: Question<'_>) -> Judged<'_> {
    let Question { snapshot, request, authority, now, .. } = question;
    let class = builtin().get(&request.restart_class);
    let (count, target) = counted(question);
    let authorization = authorize(class, request, snapshot, authority.override_restart, now);
    let verdict = verdict(&count, request.request_override, authority.override_restart);
    let ends_process = class.is_none_or(|class| class.ends_process);
    let contaminated = ends_process && snapshot.open_markers.iter().flatten().next().is_some();
    Judged {
        class,
        target,
        codes: causes(&authorization, &count, verdict, contaminated),
        allow_restart: authorization.granted() && verdict != Verdict::Unsafe && !contaminated,
        fingerprint: count.fingerprint(&request.restart_class, target),
        count,
        authorization,
        verdict,
    }
}

/// The drain gate's decision beside the matrix's. Break-glass passes this gate and no other.
fn apply_gate(question: Question<'_>, judged: &Judged<'_>, offer: Offer<'_>) -> ApplyGate {
    let Question { request, authority, now, .. } = question;
    let decision = if request.request_break_glass && authority.break_glass {
        Decision { code: GateCode::BreakGlass }
    } else {
        let fingerprint = judged.fingerprint.as_str();
        gate(offer, Present { class: &request.restart_class, target: judged.target, fingerprint, now })
    };
    ApplyGate {
        drain_gate_allow: decision.allows(),
        restart_class_authorized: judged.authorization.granted(),
        code: decision.code,
        reason: decision.code.meaning().to_owned(),
        break_glass_requested: request.request_break_glass,
        break_glass_authorized: authority.break_glass,
        replay_checked: offer.replay != Replay::Unchecked,
    }
}

/// Puts the answers together, with what is kept of them.
fn report(
    question: Question<'_>,
    judged: Judged<'_>,
    apply_gate: Option<ApplyGate>,
    apply_authorized: ApplyAuthorized,
) -> Report {
    let Question { snapshot, request, authority, now, .. } = question;
    let Judged { class, target, count, authorization, verdict, codes, allow_restart, fingerprint } = judged;
    let dry_run = apply_gate.is_none();
    let allowed = if dry_run { allow_restart } else { apply_authorized.get() };
    let denied_by_gate = apply_gate.as_ref().map(|gate| gate.code).filter(|code| !code.allows());
    let first_cause = codes.first().map(|code| code.name()).or(denied_by_gate.map(GateCode::name));
    let requester = RequesterLine {
        session_id: request.requester.session_id.clone(),
        role: request.requester.role.clone(),
    };
    let coordinator_version = env!("CARGO_PKG_VERSION").to_owned();
    let blast_radius = blast_radius(&count);
    let required_permission = class.map(|class| class.permission.clone());
    let incident = (!allowed).then(|| {
        let incident = Incident {
            id: String::new(),
            kind: if dry_run { "restart_denied" } else { "apply_denied" }.to_owned(),
            code: first_cause.unwrap_or_default().to_owned(),
            class: request.restart_class.clone(),
            target: target.map(str::to_owned),
            requester: requester.clone(),
            fingerprint: fingerprint.clone(),
            time: now.to_string(),
        };
        incident.named()
    });
    let audit = Audit {
        event: "restart_evaluation".to_owned(),
        coordinator_version: coordinator_version.clone(),
        verdict,
        class: request.restart_class.clone(),
        target: target.map(str::to_owned),
        requester: requester.clone(),
        required_permission: required_permission.clone(),
        approval_id: authorization.approval_id.clone(),
        decision: if allowed { "allow" } else { "deny" }.to_owned(),
        reason_codes: codes.clone(),
        blast_radius,
        counts: count.counts,
        fingerprint: fingerprint.clone(),
        time: now.to_string(),
    };
    Report {
        schema: 1,
        coordinator_version,
        restart_class: request.restart_class.clone(),
        target: target.map(str::to_owned),
        requester,
        dry_run,
        evidence: question.evidence,
        verdict,
        allow_restart,
        restart_class_authorized: authorization.granted(),
        required_permission,
        approval: authorization.approval,
        reasons: codes.iter().map(|code| code.meaning().to_owned()).collect(),
        next_step: next_step(&codes, denied_by_gate, dry_run, class.is_some_and(|c| c.one_at_a_time)),
        reason_codes: codes,
        override_requested: request.request_override,
        override_authorized: authority.override_restart,
        override_would_allow: override_would_allow(&count),
        authority_source: authority.source,
        blast_radius,
        inventory_complete: count.complete(),
        inventory_errors: count.errors,
        counts: count.counts,
        sessions: count.sessions,
        leases: count.leases,
        work: count.work,
        critical_sections: count.critical_sections,
        terminal_lock: count.terminal_lock,
        prior_recovery: snapshot.prior_recovery.clone().unwrap_or_default(),
        fingerprint,
        apply_gate,
        apply_authorized,
        apply_supported: Never,
        restart_performed: Never,
        incident,
        audit,
    }
}

/// The count for the request's class, and the target it names.
pub fn counted(question: Question<'_>) -> (Count, Option<&str>) {
    let class = builtin().get(&question.request.restart_class);
    let view = View {
        scope: Scope::of(class, question.request),
        own: &question.request.requester.session_id,
        own_leases_count: class.is_none_or(|class| class.ends_process),
        now: question.now,
        heartbeat_window_s: question.settings.heartbeat_window_s,
    };
    (count(question.snapshot, view), target(class, question.request))
}

/// Every cause of a denied restart, in order.
fn causes(
    authorization: &Authorization,
    count: &Count,
    verdict: Verdict,
    contaminated: bool,
) -> Vec<ReasonCode> {
    let mut codes: Vec<ReasonCode> = authorization.codes.iter().copied().collect();
    for (code, holds) in [
        (ReasonCode::InventoryIncomplete, !count.complete()),
        (ReasonCode::LiveWork, count.live_work() && verdict == Verdict::Unsafe),
        (ReasonCode::TerminalLock, count.terminal_lock.is_some()),
        (ReasonCode::ContaminatedRuntime, contaminated),
    ] {
        if holds {
            codes.push(code);
        }
    }
    codes.sort_unstable();
    codes
}

/// What to do next: against the first cause, else the gate's, else what follows an allowance.
fn next_step(codes: &[ReasonCode], gate: Option<GateCode>, dry_run: bool, one_at_a_time: bool) -> String {
    let step = match (codes.first(), gate) {
        (Some(code), _) => code.next_step(),
        (None, Some(code)) => code.next_step(),
        (None, None) if dry_run => {
            "Run `drain issue`, then `impact --apply` with the proof, before anyone restarts anything."
        }
        (None, None) if one_at_a_time => "Restart one session at a time; ask again before the next one.",
        (None, None) => "Restart by the registered path, then assess the fleet.",
    };
    step.to_owned()
}
