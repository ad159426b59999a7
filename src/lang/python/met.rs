//! What of a file is read for its commands, and what it has for others, once it is known which flows a command can
//! get to.

use super::cut::Kind;
use super::given::Given;
use super::leaves::identifiers;
use super::sinks::{Meeting, Search};

impl<'c> Search<'_, 'c> {
    /// Where methods store the members that feed flows.
    fn stored_members(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (leaves, bound) = (self.leaves, self.leaves.bound());
        let bindings = self.feeding.iter().flat_map(move |name| {
            let classes = bound.owners.get(name).into_iter().flatten();
            classes.flat_map(move |class| bound.attributes.get(&(*class, *name)).into_iter().flatten())
        });
        let stores = bindings.filter_map(move |binding| Some((binding.leaf, binding.place?)));
        let counts = move |(leaf, place): &(usize, usize)| {
            let line = leaves.lines(*leaf).map_or("", |lines| lines.line_at(*place));
            self.named[*leaf] || identifiers(line).any(|name| self.commanding.contains(name))
        };
        stores.filter(counts).map(move |(leaf, place)| (leaf, leaves.all[leaf].span().start + place))
    }

    /// The places that are read, and the names that others are told.
    pub(super) fn meeting(mut self, given: &Given) -> Meeting {
        for (name, flows) in &self.relays {
            if given.asked.contains(*name) {
                flows.iter().for_each(|at| self.flows[*at].met = true);
            }
        }
        // Who calls what names a command itself completes it.
        for at in 0..self.flows.len() {
            let word = identifiers(&self.leaves.text[self.flows[at].offset..]).next().unwrap_or("");
            let fed = self.relays.get(word).into_iter().flatten().any(|into| self.flows[*into].met);
            self.flows[at].met |= fed;
        }
        let mut meeting = Meeting::default();
        // What is fed by a name feeds all that the name stands for: both ends are read, and what lies between.
        let mut taken = vec![false; self.flows.len()];
        let mut queue: Vec<usize> = (0..self.flows.len()).filter(|at| self.flows[*at].met).collect();
        while let Some(at) = queue.pop() {
            if std::mem::replace(&mut taken[at], true) {
                continue;
            }
            let flow = &self.flows[at];
            meeting.places.push((flow.leaf, flow.offset));
            queue.extend(flow.into);
            if let Some(word) = identifiers(&self.leaves.text[flow.offset..]).next() {
                queue.extend(self.relays.get(word).into_iter().flatten());
                if given.runs.contains(word) {
                    meeting.hands.used.insert(word.to_owned());
                }
            }
        }
        if !meeting.places.is_empty() {
            meeting.hands.used.extend(given.commands.iter().cloned());
        }
        // Others have a member by an object that stands here.
        let bound = self.leaves.bound();
        let is_had = |name: &&String| {
            self.relays.contains_key(name.as_str()) || self.commanding.contains(name.as_str())
        };
        for name in given.asked.iter().filter(is_had) {
            for class in bound.owners.get(name.as_str()).into_iter().flatten() {
                let class = &self.leaves.text[self.leaves.classes[*class].name.clone()];
                for place in self.leaves.mentions(class) {
                    let leaf = self.leaves.at(*place).map(|leaf| (leaf, &self.leaves.all[leaf]));
                    if let Some((leaf, of)) = leaf
                        && of.class.is_none()
                        && of.statement.kind == Kind::Simple
                    {
                        meeting.places.push((leaf, *place));
                    }
                }
            }
        }
        meeting.places.extend(self.stored_members());
        let takers = self.takers.iter().copied();
        meeting.places.extend(takers.flat_map(|leaf| self.commands_in(leaf).map(move |at| (leaf, at))));
        // The file's own commands that others run.
        for name in given.asked.iter().filter(|name| self.commanding.contains(name.as_str())) {
            for place in self.leaves.mentions(name) {
                let Some(leaf) = self.leaves.at(*place) else { continue };
                let text = self.leaves.text_of(leaf);
                if self.leaves.bound_at(leaf, *place).contains(&name.as_str()) || text.starts_with("import") {
                    meeting.places.push((leaf, *place));
                }
            }
        }
        meeting.places.sort_unstable();
        meeting.places.dedup();
        for (name, flows) in &self.relays {
            let brings = flows.iter().any(|at| self.brings_a_command(*at));
            let of = if brings { &mut meeting.hands.completes } else { &mut meeting.hands.runs };
            of.extend(self.exported(name));
        }
        self.close_asks();
        meeting.hands.asks =
            self.asks.iter().filter(|name| self.is_foreign(name)).map(|name| (*name).to_owned()).collect();
        meeting
    }
}
