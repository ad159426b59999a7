//! Runs through a command line's scripts: each simple command, with its variables folded,
//! its prefixes taken off and its nested scripts followed.
//!
//! Scripts nest to a bounded depth, and one analysis has a budget of commands; what lies
//! beyond is reported as undecided.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::site::Confidence;
use crate::base::span::Span;
use crate::base::text::Origin;
use crate::data::commands::CommandCatalogue;

use super::action::{CommandContext, Invocation};
use super::analysis::{Analysis, Found, Undecided, UndecidedReason};
use super::continued;
use super::fold::Environment;
use super::grammar;
use super::peel;
use super::script::{Input, Script, Simple, Value};
use super::script_file::Made;
use super::word::{Composed, Part, Word};

/// How deep scripts may nest in scripts.
const MAX_SCENES: usize = 10;
/// How many commands one analysis looks at.
const MAX_COMMANDS: u32 = 400_000;
/// How many variants of one command are looked at.
const MAX_VARIANTS: usize = 16;

/// A script and what holds inside it.
pub(super) struct Scene {
    pub(super) script: Script,
    pub(super) environment: Rc<Environment>,
    /// Names of the functions that the script defines.
    pub(super) functions: FxHashSet<String>,
    /// Aliases that it defines.
    pub(super) aliases: FxHashMap<String, Word>,
    composed: Composed,
    /// Commands that it is nested in.
    pub(super) nested_in: Vec<String>,
    /// Where its actions are reported, if not at their own place.
    fixed: Option<Span>,
    /// The function that the whole script lies in.
    function: Option<String>,
    /// An `exec` in it replaces the script that was given.
    pub(super) top: bool,
    /// The host it runs on.
    pub(super) remote: Option<String>,
    /// What its commands read if they say nothing of it.
    pub(super) input: Option<(u32, Input)>,
    depth: usize,
}

impl Scene {
    /// A scene of a text that stands alone.
    fn bare(composed: Composed) -> Scene {
        Scene {
            script: Script::default(),
            environment: Rc::default(),
            functions: FxHashSet::default(),
            aliases: FxHashMap::default(),
            composed,
            nested_in: Vec::new(),
            fixed: None,
            function: None,
            top: false,
            remote: None,
            input: None,
            depth: 0,
        }
    }
}

/// One command on its way through the prefixes.
pub(super) struct Run {
    pub(super) scene: u32,
    pub(super) words: Vec<Word>,
    pub(super) nested_in: Vec<String>,
    /// The command's place in the given string.
    pub(super) span: Span,
    pub(super) function: Option<String>,
    pub(super) input: Option<(u32, Input)>,
    pub(super) remote: Option<String>,
    /// A prefix stands before it: the script's functions and aliases do not hold.
    pub(super) prefixed: bool,
    /// Words that an `exec` hands the script's process to.
    pub(super) exec: bool,
    /// `exec` may replace the script here.
    pub(super) may_exec: bool,
    pub(super) confidence: Confidence,
    pub(super) depth: usize,
    /// The shell makes other words of some of its words.
    pub(super) expands: bool,
    /// Texts of the variables that are set for it alone.
    pub(super) sets: Vec<String>,
}

impl Run {
    /// A command of that scene and place, with nothing else known.
    pub(super) fn bare_at(scene: u32, span: Span) -> Run {
        Run { span, ..Run::bare(scene) }
    }

    /// A command of that scene about which nothing is known yet.
    fn bare(scene: u32) -> Run {
        Run {
            scene,
            words: Vec::new(),
            nested_in: Vec::new(),
            span: Span::default(),
            function: None,
            input: None,
            remote: None,
            prefixed: false,
            exec: false,
            may_exec: false,
            confidence: Confidence::Certain,
            depth: 0,
            expands: false,
            sets: Vec::new(),
        }
    }
}

/// The analysis in progress.
pub(super) struct Engine<'a> {
    pub(super) catalogue: &'a CommandCatalogue,
    pub(super) context: &'a CommandContext,
    pub(super) strict: bool,
    pub(super) scenes: Vec<Rc<Scene>>,
    pub(super) analysis: Analysis,
    /// Files that the text itself writes.
    pub(super) made: Vec<Made>,
    /// An `exec` without a command gave the whole shell another standard input.
    pub(super) redirected: bool,
    /// The folder that the commands run in, seen from the one that was given; `None` if it is not known.
    pub(super) folder: Option<String>,
    left: u32,
}

/// What is known about a nested script.
pub(super) struct Nested<'w> {
    pub(super) words: &'w [Word],
    /// The commands that introduce it.
    pub(super) by: &'w str,
    /// A shell of its own.
    pub(super) child: bool,
    /// Its own places are reported (a here-document), not the command's.
    pub(super) own_places: bool,
}

impl<'a> Engine<'a> {
    pub(super) fn run(
        invocation: &Invocation,
        catalogue: &'a CommandCatalogue,
        context: &'a CommandContext,
        strict: bool,
    ) -> Analysis {
        let mut engine = Engine {
            catalogue,
            context,
            strict,
            scenes: Vec::new(),
            analysis: Analysis::default(),
            made: Vec::new(),
            redirected: false,
            folder: Some(String::new()),
            left: MAX_COMMANDS,
        };
        match invocation {
            Invocation::Shell(text) => {
                let mut scene = Scene::bare(Composed::from_text(text));
                scene.top = context.is_script;
                engine.play(scene, Environment::new(strict, context.is_script));
            }
            Invocation::Argv(words) => {
                let words: Vec<Word> = words.iter().map(Word::from_text).collect();
                engine.argv(words);
            }
        }
        engine.analysis
    }

    /// An argument list: a script without commands of its own gives it a place to stand.
    fn argv(&mut self, words: Vec<Word>) {
        let mut scene = Scene::bare(Composed::default());
        scene.environment = Rc::new(Environment::new(self.strict, false));
        scene.fixed = Some(Span::default());
        self.scenes.push(Rc::new(scene));
        self.follow(Run { words, prefixed: true, ..Run::bare(0) });
    }

    /// Parses a scene's text and follows its commands.
    fn play(&mut self, mut scene: Scene, mut environment: Environment) {
        let id = u32::try_from(self.scenes.len()).unwrap_or(u32::MAX);
        scene.composed = continued::rejoined(scene.composed);
        scene.script = grammar::parse(&scene.composed, id);
        environment.learn(&scene.script);
        scene.environment = Rc::new(environment);
        scene.functions = scene.script.functions.iter().map(|f| f.name.clone()).collect();
        scene.aliases = peel::aliases(&scene.script.commands);
        let whole = scene.fixed.unwrap_or(Span::new(0, scene.composed.text.len()));
        if id == 0 {
            let functions = scene.script.functions.iter();
            self.analysis.functions =
                functions.map(|f| (f.name.clone(), host(&scene.composed, f.span))).collect();
            self.analysis.faults = scene.script.errors.iter().map(|e| host(&scene.composed, *e)).collect();
        }
        if scene.script.gave_up {
            self.analysis.gave_up = true;
            self.undecided(UndecidedReason::TooLarge, whole);
        }
        if let Some(error) = scene.script.errors.first() {
            let span = scene.fixed.unwrap_or(host(&scene.composed, *error));
            self.undecided(UndecidedReason::Syntax, span);
        }
        let scene = Rc::new(scene);
        self.scenes.push(Rc::clone(&scene));
        if self.strict {
            self.before(id, &scene);
        }
        for command in &scene.script.commands {
            if self.left == 0 {
                self.analysis.gave_up = true;
                self.undecided(UndecidedReason::TooLarge, whole);
                return;
            }
            self.left -= 1;
            self.simple(id, &scene, command);
        }
        if self.strict {
            self.doubled(id, &scene);
        }
    }

    /// What holds for a whole script: the files that it writes, variables whose values are run, and
    /// quoted texts that arithmetic runs.
    fn before(&mut self, id: u32, scene: &Rc<Scene>) {
        self.note_made(id, scene);
        for span in &scene.script.hidden {
            let text = scene.composed.text.get(span.range()).unwrap_or("");
            if self.catalogue.named_in(text) {
                self.undecided(
                    UndecidedReason::HiddenCode,
                    scene.fixed.unwrap_or(host(&scene.composed, *span)),
                );
            }
        }
        for assignment in &scene.script.assignments {
            let words = match &assignment.value {
                Value::Scalar(word) => std::slice::from_ref(word),
                Value::Array(words) | Value::AnyOf(words) => words.as_slice(),
                Value::Unknown => &[],
            };
            for word in words {
                let at = host(&scene.composed, Span::new(assignment.at as usize, assignment.at as usize + 1));
                let run = Run {
                    span: scene.fixed.unwrap_or(at),
                    nested_in: scene.nested_in.clone(),
                    remote: scene.remote.clone(),
                    depth: scene.depth,
                    ..Run::bare(id)
                };
                self.variable(&run, &assignment.name, word);
            }
        }
    }

    /// `((pkill x))` may be meant as a subshell in a subshell: where nothing may be missed it is read so.
    fn doubled(&mut self, id: u32, scene: &Rc<Scene>) {
        for span in &scene.script.doubled {
            let inner =
                scene.composed.text.get(span.start as usize + 1..(span.end as usize).saturating_sub(1));
            let mut word = Word { parts: Vec::new(), span: *span };
            scene.composed.placeholders.append(&mut word, inner.unwrap_or(""), span.start.saturating_add(1));
            let run = Run {
                span: scene.fixed.unwrap_or(host(&scene.composed, *span)),
                nested_in: scene.nested_in.clone(),
                function: scene.function.clone(),
                remote: scene.remote.clone(),
                depth: scene.depth,
                ..Run::bare(id)
            };
            self.nest(&run, &Nested { words: &[word], by: "((", child: false, own_places: true });
        }
    }

    fn simple(&mut self, id: u32, scene: &Rc<Scene>, command: &Simple) {
        let mut prefixed = None;
        let mut words: &[Word] = &command.words;
        // `$SUDO kill 5`: a variable that by convention holds a prefix or nothing.
        while let Some(Part::Variable { name, .. }) = words.first().and_then(Word::only)
            && words.len() > 1
            && self.catalogue.prefix_variables.contains(name)
        {
            prefixed.get_or_insert_with(|| format!("${name}"));
            words = words.get(1..).unwrap_or(&[]);
        }
        let span = scene.fixed.unwrap_or(host(&scene.composed, command.span));
        let function = command
            .flow
            .function
            .and_then(|f| scene.script.functions.get(f as usize))
            .map(|f| f.name.clone())
            .or_else(|| scene.function.clone());
        let input = match &command.input {
            Input::Inherited => scene.input.clone(),
            input => Some((id, input.clone())),
        };
        let sets: Vec<String> = command.sets.iter().map(|(_, word)| word.display()).collect();
        if self.strict {
            self.around(id, scene, command, span);
        }
        let before = self.analysis.found.len();
        for (i, words) in self.variants(scene, words, command).into_iter().enumerate() {
            let start = self.analysis.found.len();
            let run = Run {
                scene: id,
                words,
                nested_in: scene.nested_in.iter().cloned().chain(prefixed.clone()).collect(),
                span,
                function: function.clone(),
                input: input.clone(),
                remote: scene.remote.clone(),
                prefixed: prefixed.is_some(),
                exec: false,
                may_exec: scene.top && !command.flow.subshell,
                confidence: Confidence::Certain,
                depth: scene.depth,
                expands: command.expands,
                sets: sets.clone(),
            };
            self.follow(run);
            if i > 0 {
                self.merge(before, start);
            }
        }
    }

    /// What a command does beside its words: variables set for it, files that it writes, its folder.
    fn around(&mut self, id: u32, scene: &Rc<Scene>, command: &Simple, span: Span) {
        let run = Run {
            span,
            nested_in: scene.nested_in.clone(),
            remote: scene.remote.clone(),
            depth: scene.depth,
            ..Run::bare(id)
        };
        for (name, value) in &command.sets {
            self.variable(&run, name, value);
        }
        let written =
            command.writes.iter().chain(match command.words.first().and_then(Word::text).as_deref() {
                Some("tee" | "dd" | "cp" | "sudo") => command.words.get(1..).unwrap_or(&[]),
                _ => &[],
            });
        for word in written {
            let text = word.display();
            let file = text.trim_start_matches("of=");
            let fine = file.starts_with("/proc/self/fd") || file.contains("oom_score_adj");
            if (file.starts_with("/proc/") || file.starts_with("/sys/")) && !fine {
                self.undecided(UndecidedReason::KernelFile, span);
            }
        }
        self.redirected |= command.words.len() == 1
            && command.words.first().and_then(Word::text).as_deref() == Some("exec")
            && command.input != Input::Inherited;
        // Its first word is a variable, and the text sets where variables are split.
        let splits = command
            .words
            .first()
            .is_some_and(|w| w.parts.iter().any(|p| matches!(p.part, Part::Variable { quoted: false, .. })));
        if splits && scene.environment.splits_elsewhere() {
            self.undecided(UndecidedReason::FreeCommand, span);
        }
        self.change_folder(command);
    }

    /// The actions of one command's further variants (another value of a variable) are the
    /// same site: only their aims are kept.
    fn merge(&mut self, before: usize, start: usize) {
        let later = self.analysis.found.split_off(start.min(self.analysis.found.len()));
        for found in later {
            let same =
                self.analysis.found.get_mut(before..).unwrap_or(&mut []).iter_mut().find(|f: &&mut Found| {
                    f.action.effect == found.action.effect && f.action.span == found.action.span
                });
            match same {
                Some(same) => {
                    same.aims.extend(found.aims);
                    same.whole |= found.whole;
                    same.remote = same.remote.take().and(found.remote);
                    same.action.confidence = same.action.confidence.max(found.action.confidence);
                }
                None => self.analysis.found.push(found),
            }
        }
    }

    /// The command's words for each combination of its variables' values.
    fn variants(&self, scene: &Scene, words: &[Word], command: &Simple) -> Vec<Vec<Word>> {
        let mut variants: Vec<Vec<Word>> = vec![Vec::new()];
        for word in words {
            let alternatives = scene.environment.expand(word, command.flow.function);
            if let [only] = alternatives.as_slice() {
                for words in &mut variants {
                    for word in only {
                        self.settle(word, words);
                    }
                }
                continue;
            }
            let mut next = Vec::with_capacity(variants.len());
            'all: for variant in &variants {
                for alternative in &alternatives {
                    if next.len() >= MAX_VARIANTS {
                        break 'all;
                    }
                    let mut words = variant.clone();
                    for word in alternative {
                        self.settle(word, &mut words);
                    }
                    next.push(words);
                }
            }
            variants = next;
        }
        variants
    }

    /// Appends a word with its constant substitutions replaced by what they print.
    fn settle(&self, word: &Word, out: &mut Vec<Word>) {
        if !word.parts.iter().any(|p| matches!(p.part, Part::Output { .. })) {
            out.push(word.clone());
            return;
        }
        let mut settled = Word { parts: Vec::new(), span: word.span };
        for piece in &word.parts {
            let Part::Output { scene, commands, quoted } = &piece.part else {
                settled.parts.push(piece.clone());
                continue;
            };
            let Some(text) = self.constant(*scene, commands, 0) else {
                settled.parts.push(piece.clone());
                continue;
            };
            let text = text.trim_end_matches('\n');
            if *quoted {
                settled.push(Part::Literal(text.to_owned()), piece.at);
                continue;
            }
            for (i, field) in text.split_whitespace().enumerate() {
                if i > 0 {
                    out.push(std::mem::replace(&mut settled, Word { parts: Vec::new(), span: word.span }));
                }
                settled.push(Part::Literal(field.to_owned()), piece.at);
            }
        }
        out.push(settled);
    }

    /// Follows a script that a command runs.
    pub(super) fn nest(&mut self, run: &Run, nested: &Nested<'_>) {
        if run.depth >= MAX_SCENES {
            self.analysis.gave_up = true;
            self.undecided(UndecidedReason::TooLarge, run.span);
            return;
        }
        let Some(outer) = self.scenes.get(run.scene as usize).cloned() else { return };
        let mut composed = Composed::from_words(nested.words);
        // Offsets of a nested text lead through the outer one to the given string.
        for (_, at) in &mut composed.anchors {
            *at = outer.composed.host(*at);
        }
        let mut nested_in = run.nested_in.clone();
        nested_in.push(nested.by.to_owned());
        let environment = Environment::inside(Rc::clone(&outer.environment), nested.child);
        let folder = self.folder.clone();
        let scene = Scene {
            nested_in,
            fixed: if nested.own_places { outer.fixed } else { Some(run.span) },
            function: run.function.clone(),
            top: run.may_exec && !nested.child,
            remote: run.remote.clone(),
            input: run.input.clone().filter(|_| !nested.own_places),
            depth: run.depth + 1,
            ..Scene::bare(composed)
        };
        self.play(scene, environment);
        if nested.child {
            self.folder = folder;
        }
    }

    /// Notes something that cannot be decided; nothing unless the mode is strict.
    pub(super) fn undecided(&mut self, reason: UndecidedReason, span: Span) {
        if self.strict {
            self.analysis.undecided.push(Undecided { reason, span });
        }
    }

    /// The scene of that number.
    pub(super) fn scene(&self, id: u32) -> Option<&Rc<Scene>> {
        self.scenes.get(id as usize)
    }

    /// Whether a word of the given text is not known at all.
    pub(super) fn is_unknown(word: &Word) -> bool {
        matches!(word.origin(), Some(Origin::Unknown | Origin::Parameter(_)))
    }
}

fn host(composed: &Composed, span: Span) -> Span {
    let start = composed.host(span.start);
    // The end is mapped by its last byte: one past it may belong to another stretch.
    let end = composed.host(span.end.saturating_sub(1)).saturating_add(1).max(start);
    Span { start, end }
}
