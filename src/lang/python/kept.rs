//! Objects whose members are run: whether what such an object is made of names a command, told from the text.

use rustc_hash::FxHashSet;

use super::sinks::{Flow, Search};
use super::stores::looped_over;

impl<'c> Search<'_, 'c> {
    /// Whether an object of which a member is run comes from what may stand for a command: `for job in
    /// JOBS`, or from a line that names one: `job = Job("pkill x")`.
    pub(super) fn comes_from_commands(&self, flow: &Flow, object: &'c str) -> bool {
        if self.commanding.is_empty() && !self.named[flow.leaf] {
            return false;
        }
        let stands = |name: &&str| self.commanding.contains(name);
        let leaf = &self.leaves.all[flow.leaf];
        match self.leaves.lines(flow.leaf).filter(|_| leaf.is_function()) {
            Some(lines) => {
                let names = lines.behind(std::iter::once(object), &|_| false);
                let place = flow.offset - leaf.span().start;
                names.used.iter().any(stands)
                    || self.named[flow.leaf] && self.is_named_behind(flow.leaf, place, &names)
            }
            None => {
                let text = self.leaves.text_of(flow.leaf);
                looped_over(text, FxHashSet::from_iter([object])).iter().any(stands)
            }
        }
    }
}
