//! The report as one self-contained page: no script, no network, nothing beside the file.
//!
//! Everything that comes from the snapshot or the request is escaped in one place, [`Page::text`].

use super::text::{counted, headline};
use crate::base::terminal::one_line;
use crate::pass::impact::Report;
use crate::pass::impact::report::{BlastRadius, Verdict};

const STYLE: &str = include_str!("page.css");

/// The report as an HTML document.
pub fn page(report: &Report) -> String {
    let mut page = Page(String::new());
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    page.raw("<title>")
        .text(&headline(report))
        .raw("</title>\n<style>\n")
        .raw(STYLE)
        .raw("</style>\n</head>\n");
    page.raw("<body>\n<main>\n");
    banner(&mut page, report);
    tiles(&mut page, report);
    reasons(&mut page, report);
    sessions(&mut page, report);
    leases(&mut page, report);
    recovery(&mut page, report);
    evidence(&mut page, report);
    page.raw("</main>\n</body>\n</html>\n");
    page.0
}

/// A page in the making.
struct Page(String);

impl Page {
    /// Markup of this module's own.
    fn raw(&mut self, markup: &str) -> &mut Page {
        self.0.push_str(markup);
        self
    }

    /// Text from anywhere, escaped for text and for quoted attributes.
    fn text(&mut self, text: &str) -> &mut Page {
        for c in one_line(text).chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        self
    }

    /// A sentence of this program's own: what stands between backquotes is to be typed.
    fn sentence(&mut self, text: &str) -> &mut Page {
        for (i, part) in text.split('`').enumerate() {
            if i % 2 == 1 {
                self.raw("<code>").text(part).raw("</code>");
            } else {
                self.text(part);
            }
        }
        self
    }

    fn cell(&mut self, text: &str) -> &mut Page {
        self.raw("<td>").text(text).raw("</td>")
    }

    fn heading(&mut self, text: &str) -> &mut Page {
        self.raw("<h2>").text(text).raw("</h2>\n")
    }

    fn table(&mut self, columns: &[&str]) -> &mut Page {
        self.raw("<div class=\"scroll\"><table>\n<thead><tr>");
        for column in columns {
            self.raw("<th scope=\"col\">").text(column).raw("</th>");
        }
        self.raw("</tr></thead>\n<tbody>\n")
    }

    fn end_table(&mut self) -> &mut Page {
        self.raw("</tbody>\n</table></div>\n")
    }

    fn fact(&mut self, name: &str, value: &str) -> &mut Page {
        self.raw("<dt>").text(name).raw("</dt><dd>").text(value).raw("</dd>\n")
    }
}

fn banner(page: &mut Page, report: &Report) {
    page.raw(if report.allowed() { "<header class=\"allow\">\n" } else { "<header class=\"deny\">\n" });
    page.raw("<h1>").text(&headline(report)).raw("</h1>\n<p class=\"next\"><strong>Next:</strong> ");
    page.sentence(&report.next_step).raw("</p>\n</header>\n");
}

fn tiles(page: &mut Page, report: &Report) {
    let verdict = match report.verdict {
        Verdict::Safe => "good",
        Verdict::Override => "warn",
        Verdict::Unsafe => "bad",
    };
    let radius = match report.blast_radius {
        BlastRadius::None => "good",
        BlastRadius::Low | BlastRadius::Medium => "warn",
        BlastRadius::High => "bad",
    };
    let counts = report.counts;
    let hit = |number: usize| if number == 0 { "good" } else { "warn" };
    let known = if report.inventory_complete { ("good", "complete") } else { ("bad", "incomplete") };
    let class = if report.restart_class_authorized { ("good", "authorized") } else { ("bad", "denied") };
    page.raw("<section class=\"tiles\" aria-label=\"At a glance\">\n");
    tile(page, verdict, "Verdict", report.verdict.name());
    tile(page, radius, "Blast radius", report.blast_radius.name());
    tile(
        page,
        hit(counts.other_live_sessions),
        "Other live sessions",
        &counts.other_live_sessions.to_string(),
    );
    tile(page, hit(counts.active_leases), "Active leases", &counts.active_leases.to_string());
    tile(
        page,
        if counts.critical_sections == 0 { "good" } else { "bad" },
        "Writing now",
        &counts.critical_sections.to_string(),
    );
    tile(page, known.0, "Inventory", known.1);
    tile(page, class.0, "Class matrix", class.1);
    if let Some(gate) = &report.apply_gate {
        tile(page, if gate.drain_gate_allow { "good" } else { "bad" }, "Drain gate", gate.code.name());
    }
    page.raw("</section>\n");
}

fn tile(page: &mut Page, tone: &str, name: &str, value: &str) {
    page.raw("<div class=\"tile ")
        .raw(tone)
        .raw("\"><span>")
        .text(name)
        .raw("</span><b>")
        .text(value)
        .raw("</b></div>\n");
}

fn reasons(page: &mut Page, report: &Report) {
    let gate = report.apply_gate.as_ref().filter(|gate| !gate.drain_gate_allow);
    if !report.reason_codes.is_empty() || gate.is_some() {
        page.heading("Why it is denied").raw("<ul class=\"reasons\">\n");
        for (code, reason) in report.reason_codes.iter().zip(&report.reasons) {
            page.raw("<li><code>").text(code.name()).raw("</code> ").text(reason).raw("</li>\n");
        }
        if let Some(gate) = gate {
            page.raw("<li><code>").text(gate.code.name()).raw("</code> ").text(&gate.reason).raw("</li>\n");
        }
        page.raw("</ul>\n");
    }
    if !report.inventory_errors.is_empty() {
        page.heading("What is not known").raw("<ul>\n");
        for error in &report.inventory_errors {
            page.raw("<li>").text(error).raw("</li>\n");
        }
        page.raw("</ul>\n");
    }
    if let Some(lock) = &report.terminal_lock {
        page.heading("A merge holds the terminal lock").raw("<dl>\n").fact("Lock", &lock.lock_id);
        page.fact("Held by", lock.holder_session_id.as_deref().unwrap_or("unknown"));
        page.fact("Pull request", &lock.pr.map_or("unknown".to_owned(), |pr| format!("#{pr}")));
        page.fact("Until", lock.expires_at.as_deref().unwrap_or("unknown")).raw("</dl>\n");
    }
}

fn sessions(page: &mut Page, report: &Report) {
    page.heading("Who would be hit");
    if report.sessions.is_empty() {
        page.raw("<p>No session is listed.</p>\n");
        return;
    }
    let hit = report.counts.other_live_sessions;
    page.raw("<p>").text(&counted(hit, "other live session")).text(" in scope, of ");
    page.text(&counted(report.sessions.len(), "listed session")).raw(".</p>\n");
    page.table(&["Session", "Role", "State", "Scope", "Last heartbeat"]);
    for session in &report.sessions {
        let hit = session.counts() && !session.own;
        page.raw(if hit { "<tr class=\"hit\">" } else { "<tr>" }).cell(&session.session_id);
        page.cell(session.role.as_deref().unwrap_or("unknown"));
        page.cell(if session.live { "live" } else { "not live" });
        page.cell(match (session.own, session.in_scope) {
            (true, true) => "the requester, in scope",
            (true, false) => "the requester, out of scope",
            (false, true) => "in scope",
            (false, false) => "out of scope",
        });
        page.cell(&session.heartbeat_age_s.map_or("unknown".to_owned(), |age| format!("{age} s ago")));
        page.raw("</tr>\n");
    }
    page.end_table();
}

fn leases(page: &mut Page, report: &Report) {
    page.heading("What would be hit");
    if report.leases.is_empty() {
        page.raw("<p>No lease is listed.</p>\n");
        return;
    }
    page.raw("<p>").text(&counted(report.counts.work_items, "work item")).text(", ");
    page.text(&counted(report.counts.critical_sections, "critical section")).raw(".</p>\n");
    page.table(&["Work", "Lease", "Freshness", "Scope", "Writing now"]);
    for lease in &report.leases {
        page.raw(if lease.counts() { "<tr class=\"hit\">" } else { "<tr>" });
        page.cell(&lease.work.as_ref().map_or("unknown".to_owned(), |w| format!("{} #{}", w.kind, w.number)));
        page.cell(&lease.lease_id).cell(lease.freshness.name());
        page.cell(if lease.in_scope { "in scope" } else { "out of scope" });
        page.cell(if lease.critical { "yes" } else { "no" }).raw("</tr>\n");
    }
    page.end_table();
}

fn recovery(page: &mut Page, report: &Report) {
    if report.prior_recovery.is_empty() {
        return;
    }
    page.heading("What was tried before").table(&["When", "What", "Outcome"]);
    for attempt in &report.prior_recovery {
        page.raw("<tr>").cell(&attempt.at).cell(&attempt.kind);
        page.cell(attempt.outcome.as_deref().unwrap_or("unknown")).raw("</tr>\n");
    }
    page.end_table();
}

fn evidence(page: &mut Page, report: &Report) {
    let yes = |holds: bool| if holds { "yes" } else { "no" };
    let requester = &report.requester;
    page.heading("The request and its evidence").raw("<dl>\n");
    page.fact("Asked by", &format!("{} ({})", requester.session_id, requester.role));
    page.fact("Class", &report.restart_class);
    page.fact("Target", report.target.as_deref().unwrap_or("none"));
    let approval = if report.approval.satisfied { "satisfied" } else { "not satisfied" };
    page.fact("Approval", &format!("{}: {approval}", report.approval.required.name()));
    page.fact("Override requested", yes(report.override_requested));
    page.fact("Override authorized", yes(report.override_authorized));
    page.fact("An override would lift the state", yes(report.override_would_allow));
    if let Some(gate) = &report.apply_gate {
        page.fact("Break-glass requested", yes(gate.break_glass_requested));
        page.fact("Break-glass authorized", yes(gate.break_glass_authorized));
        page.fact("Replay checked", yes(gate.replay_checked));
    }
    page.fact("Evaluated at", &report.audit.time);
    page.fact("Fingerprint", &report.fingerprint);
    if let Some(incident) = &report.incident {
        page.fact("Incident", &format!("{} ({})", incident.id, incident.code));
    }
    page.fact("Coordinator", &format!("restartlint {}", report.coordinator_version));
    page.raw("</dl>\n<p class=\"foot\">Nothing was restarted: restartlint never does.</p>\n");
}
