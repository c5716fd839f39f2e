//! Guarding and staging changes: all files of a draft or none, and nothing that somebody saved meanwhile is lost.

use std::cmp::Ordering;

use harness_code::edit::{self, ChangeSet, FileChange};
use harness_code::path::RelPath;
use harness_code::symbols::Definition;
use harness_code::text::Text;
use harness_hands::door::protected;

use crate::guard;
use crate::history::Refusal;
use crate::plan::{Plan, Spot};
use crate::run::context::Context;
use crate::run::ending::Attempt;
use crate::run::event::EventKind;
use crate::run::log::Log;
use crate::run::staged::Staged;
use crate::run::trial::Trial;
use crate::tool::{trespass, unreadable};

/// A definition that was new in a change that was dropped.
pub(in crate::run) struct DroppedDefinition {
    pub(in crate::run) path: RelPath,
    pub(in crate::run) name: String,
    pub(in crate::run) code: String,
}

impl Trial {
    /// Guards and stages a draft: all of its files, or none and the reason.
    pub(in crate::run) fn apply(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        draft: &ChangeSet,
    ) -> Result<(), Refusal> {
        self.apply_allowing(context, plan, draft, &[])?;
        tell_trying(log, draft);
        Ok(())
    }

    /// Guards and stages a draft that counts as a part of the one before it. These definitions may go by it.
    pub(in crate::run) fn apply_as_part(
        &mut self,
        context: &Context<'_>,
        plan: &Plan,
        draft: &ChangeSet,
        may_go: &[Spot],
    ) -> Result<(), Refusal> {
        let earlier = self.earlier.clone();
        let applied = self.apply_allowing(context, plan, draft, may_go);
        self.earlier = earlier;
        applied
    }

    /// Keeps a draft that only lacks a name or a module: models write what uses it first.
    pub(in crate::run) fn set_aside(&mut self, refusal: &Refusal, draft: &ChangeSet) {
        if matches!(
            refusal.rule.as_str(),
            "draft.unresolved" | "draft.missing_import"
        ) {
            // A later draft of a file stands for the earlier one.
            let is_of = |other: &FileChange| draft.files.iter().any(|one| one.path == other.path);
            self.waiting.retain(|other| !other.files.iter().any(is_of));
            self.waiting.push(draft.clone());
        }
    }

    /// Forgets the drafts that wait for a name or a module.
    pub(in crate::run) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Stages drafts that lack nothing any more, where the same lines were not changed meanwhile. They count as parts of
    /// the draft before them.
    pub(in crate::run) fn apply_waiting(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
    ) {
        for draft in std::mem::take(&mut self.waiting) {
            let Some(now) = self.rebased(context, &draft) else {
                continue;
            };
            match self.apply_as_part(context, plan, &now, &[]) {
                Ok(()) => {
                    tell_trying(log, &now);
                    let words = "a change that waited for this is in place now";
                    log.tell(EventKind::Fixed, words, []);
                }
                Err(_) => self.waiting.push(draft),
            }
        }
    }

    /// Returns a draft as it is for the files as they are staged now.
    fn rebased(&self, context: &Context<'_>, draft: &ChangeSet) -> Option<ChangeSet> {
        let mut draft = draft.clone();
        let stays = |change: &&mut FileChange| change.after.is_some();
        for change in draft.files.iter_mut().filter(stays) {
            let now = self.content(context, &change.path);
            if now != change.before {
                let (base, now) = (change.before.as_deref()?, now?);
                change.after = Some(edit::rebased(base, change.new_text(), &now)?);
                change.before = Some(now);
            }
        }
        Some(draft)
    }

    /// Guards and stages what is certain, as long as its files are what it was made from.
    pub(in crate::run) fn apply_certain(
        &mut self,
        context: &Context<'_>,
        plan: &Plan,
        set: &ChangeSet,
    ) -> Result<(), Refusal> {
        let mut files = set.files.iter();
        files.try_for_each(|change| self.is_as_read(context, change))?;
        self.apply_allowing(context, plan, set, &[])
    }

    /// Guards and stages a draft by which these definitions may go. Every change is looked at before the first is made,
    /// beside what the others make of the project.
    pub(in crate::run) fn apply_allowing(
        &mut self,
        context: &Context<'_>,
        plan: &Plan,
        set: &ChangeSet,
        may_go: &[Spot],
    ) -> Result<(), Refusal> {
        let moved = moved(context, set);
        let beside = [self.staged.changes(), set.files.clone(), moved].concat();
        let guarded = context.guard_context(&beside, may_go);
        for change in &set.files {
            self.transaction.check(&change.path).map_err(trespass)?;
            guard::refusal(change, &plan.task, &guarded).map_or(Ok(()), Err)?;
        }
        for change in &set.files {
            self.keeps_what_was_saved(context, change)?;
        }
        self.earlier = self.staged.clone();
        let staged = self.stage(context, &set.files);
        let staged = staged.and_then(|()| self.stage_moves(context, &set.moves));
        if staged.is_err() {
            self.staged = self.earlier.clone();
        }
        staged
    }

    /// Refuses a draft that would undo what somebody saved after the model was shown the file.
    fn keeps_what_was_saved(
        &self,
        context: &Context<'_>,
        change: &FileChange,
    ) -> Result<(), Refusal> {
        // What nobody was shown was made from what it was before the first draft of it, or from what the change says.
        let shown = self.shown.get(&change.path);
        let shown = shown.and_then(|bytes| Some(Text::decode(bytes).ok()?.into_content()));
        let staged = || {
            let mut staged = self.staged.changes().into_iter();
            staged.find(|one| one.path == change.path)?.before
        };
        let shown = shown.or_else(staged).or_else(|| change.before.clone());
        let now = on_disk(context, &change.path)?;
        let (Some(shown), Some(now)) = (shown, now) else {
            return Ok(());
        };
        let lost = match Text::decode(&now).map(Text::into_content) {
            Ok(now) => match undone(&shown, &now, change.new_text()) {
                Some(words) => words,
                None => return Ok(()),
            },
            // What goes whole, and was never text, has no lines to compare.
            Err(_) if change.after.is_none() => return Ok(()),
            Err(_) => "what is no text would be lost".to_owned(),
        };
        let path = &change.path;
        let reason =
            format!("`{path}` was saved by someone else meanwhile, and {lost}: read it again");
        Err(Refusal::new(
            "write.changed_meanwhile",
            reason,
            path.as_str(),
        ))
    }

    /// Refuses a change of a file that is not any more what it was made from: another run, or somebody, saved it while
    /// this one waited for the project.
    fn is_as_read(&self, context: &Context<'_>, change: &FileChange) -> Result<(), Refusal> {
        let now = on_disk(context, &change.path)?;
        let now = now.map(|bytes| Text::decode(&bytes).ok().map(Text::into_content));
        if now == change.before.clone().map(Some) {
            return Ok(());
        }
        let path = &change.path;
        let reason = format!("`{path}` was changed while this run waited: run it again");
        Err(Refusal::new(
            "write.changed_meanwhile",
            reason,
            path.as_str(),
        ))
    }

    fn stage(&mut self, context: &Context<'_>, changes: &[FileChange]) -> Result<(), Refusal> {
        let door = context.project.door();
        for change in changes {
            let now = self
                .staged
                .read(door, &change.path)
                .map_err(|error| unreadable(&change.path, &error))?;
            let after = change.after.as_deref();
            let bytes = after.map(|text| encoded(now.as_deref(), &change.path, text));
            self.staged
                .set(door, &change.path, bytes.transpose()?)
                .map_err(|error| unreadable(&change.path, &error))?;
        }
        Ok(())
    }

    fn stage_moves(
        &mut self,
        context: &Context<'_>,
        moves: &[(RelPath, RelPath)],
    ) -> Result<(), Refusal> {
        let door = context.project.door();
        for (from, to) in moves {
            for path in [from, to] {
                self.transaction.check(path).map_err(trespass)?;
            }
            if matches!(self.staged.read(door, to), Ok(Some(_))) {
                let reason = format!("`{to}` exists already");
                return Err(Refusal::new("fix.refused", reason, to.as_str()));
            }
            self.staged
                .rename(door, from, to)
                .map_err(|error| unreadable(from, &error))?;
        }
        Ok(())
    }

    /// Drops a draft: what was staged before it stands again.
    pub(in crate::run) fn put_back(&mut self, log: &mut Log<'_>, draft: &ChangeSet) {
        self.attempt = Attempt::of(&self.staged);
        self.staged = self.earlier.clone();
        self.waiting.clear();
        self.judged = None;
        for change in &draft.files {
            self.dropped.extend(new_definitions(change));
            log.tell(
                EventKind::Undone,
                "dropped the change",
                [("path", change.path.as_str().into())],
            );
        }
    }

    /// Returns the definitions of this file that the model wrote in changes that were dropped, the newest first.
    pub(in crate::run) fn dropped(
        &self,
        path: &RelPath,
    ) -> impl Iterator<Item = &DroppedDefinition> {
        let dropped = self.dropped.iter().rev();
        dropped.filter(move |one| one.path == *path)
    }

    /// Drops what is staged; the last attempt is remembered.
    pub(in crate::run) fn drop_all(&mut self, log: &mut Log<'_>) {
        let attempt = Attempt::of(&self.staged);
        self.staged = Staged::default();
        self.waiting.clear();
        if !attempt.is_empty() {
            log.tell(EventKind::Undone, "dropped every change", []);
            self.attempt = attempt;
        }
    }
}

/// Returns files that get another path as those that go and those that come, as far as they are text.
pub(in crate::run) fn moved(context: &Context<'_>, set: &ChangeSet) -> Vec<FileChange> {
    let ends = |(from, to): &(RelPath, RelPath)| {
        let changed = set.files.iter().find(|change| change.path == *from);
        let (before, after) = match changed {
            Some(change) => (change.before.clone(), change.after.clone()),
            None => {
                let text = context.whole_tree().text(from).ok()?.into_content();
                (Some(text.clone()), Some(text))
            }
        };
        let end = |path: &RelPath, before, after| FileChange {
            path: path.clone(),
            before,
            after,
        };
        Some([end(from, before, None), end(to, None, after)])
    };
    set.moves.iter().filter_map(ends).flatten().collect()
}

/// Returns why a run that writes would refuse a change; what may not change is asked about before anything is shown.
pub(in crate::run) fn refusal(
    context: &Context<'_>,
    plan: &Plan,
    changes: &[FileChange],
    moved: &[FileChange],
) -> Option<Refusal> {
    let mut named = plan.mentions().paths.clone();
    named.extend(plan.task.written_paths());
    let door = context.project.door();
    let beside = [changes, moved].concat();
    let context = context.guard_context(&beside, &[]);
    let trespass = |change: &FileChange| {
        let allowed = door.within_scope(&change.path);
        let allowed = allowed.and_then(|()| protected::check(door, &change.path, &named));
        allowed.err().map(trespass)
    };
    let refused = changes.iter().find_map(|change| {
        trespass(change).or_else(|| guard::refusal(change, &plan.task, &context))
    });
    refused.or_else(|| moved.iter().find_map(trespass))
}

/// Returns the bytes of a file of the project, or nothing where there is none.
fn on_disk(context: &Context<'_>, path: &RelPath) -> Result<Option<Vec<u8>>, Refusal> {
    let found = context.project.door().find(path);
    found.map_err(|error| unreadable(path, &error))
}

/// Returns what a draft would undo of the changes that somebody made to a text after it was shown. Nothing is undone where
/// the draft stays the same when these changes are made to it again.
fn undone(shown: &str, now: &str, new: &str) -> Option<String> {
    let has_all = |[shown, now, new]: &[String; 3]| {
        edit::rebased(shown, new, now).is_some_and(|again| again == *new)
    };
    let lines = [shown, now, new].map(str::to_owned);
    // Changes of lines next to each other are apart where each word is compared.
    let words = lines.each_ref().map(|text| text.replace(' ', " \n"));
    // Which of several equal lines is the new one depends on the end at which a comparison begins.
    let reversed = |texts: &[String; 3]| texts.each_ref().map(|text| text.chars().rev().collect());
    let forms = [reversed(&lines), reversed(&words), lines, words];
    if shown == now || forms.iter().any(has_all) {
        return None;
    }
    let diff = edit::unified_diff("", Some(shown), Some(now));
    let changed = diff.lines().skip(2).map(|line| line.split_at(1));
    let mut changed: Vec<_> = changed.filter(|(sign, _)| "+-".contains(sign)).collect();
    // What would be lost is told before what would come back.
    changed.sort_by_key(|(sign, _)| *sign);
    let quoted = |line: &str| match line.trim() {
        "" => "an empty line".to_owned(),
        line => format!("`{line}`"),
    };
    let count = |text: &str, line: &str| text.lines().filter(|one| *one == line).count();
    let counted = changed.iter().find_map(|(sign, line)| {
        match (*sign, count(new, line).cmp(&count(now, line))) {
            ("+", Ordering::Less) => Some(format!("{} would be lost", quoted(line))),
            ("-", Ordering::Greater) => Some(format!("{} would come back", quoted(line))),
            _ => None,
        }
    });
    let place = || {
        changed
            .first()
            .map_or_else(String::new, |(_, line)| quoted(line))
    };
    counted.or_else(|| Some(format!("what was changed at {} may be lost", place())))
}

/// Returns the bytes of a change in the encoding that the file has.
fn encoded(now: Option<&[u8]>, path: &RelPath, new: &str) -> Result<Vec<u8>, Refusal> {
    let text = now.and_then(|bytes| Text::decode(bytes).ok());
    let text = text.unwrap_or_else(|| Text::new(""));
    text.encode(new).map_err(|error| {
        let reason = format!(
            "`{path}` cannot hold `{}` in {}: use plain characters",
            error.character, error.encoding
        );
        Refusal::new("draft.encoding", reason, path.as_str())
    })
}

pub(in crate::run) fn tell_trying(log: &mut Log<'_>, draft: &ChangeSet) {
    let paths = draft.files.iter().map(|change| change.path.as_str());
    let names: Vec<&str> = paths.collect();
    let text = format!("trying a change of {}", names.join(", "));
    let data = [("action", "try".into()), ("result", draft.diff().into())];
    log.tell(EventKind::Action, &text, data);
}

/// Returns the definitions at the top of a file that a change adds.
fn new_definitions(change: &FileChange) -> Vec<DroppedDefinition> {
    let mut new = change.brought();
    new.retain(|one| one.parent.is_none());
    let dropped = |one: Definition| {
        Some(DroppedDefinition {
            path: change.path.clone(),
            name: one.qualified.to_string(),
            code: change.new_text().get(one.span())?.to_owned(),
        })
    };
    new.into_iter().filter_map(dropped).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::run::scripted_tests::{PRICING, Scene, Stage, change, path};

    fn apply(scene: &mut Scene<'_, '_>, trial: &mut Trial, files: &[FileChange]) -> Option<String> {
        let draft = ChangeSet::from(files.to_vec());
        let applied = trial.apply(scene.context, scene.log, scene.plan, &draft);
        applied.err().map(|refusal| said(&refusal))
    }

    fn said(refusal: &Refusal) -> String {
        format!("{}: {}", refusal.rule, refusal.reason)
    }

    /// Does something with the project whose discount is wrong once a run has taken it.
    fn with(act: impl FnOnce(&Stage, &mut Scene<'_, '_>, &mut Trial)) {
        let stage = Stage::new(&[PRICING], "fix discount in pricing.py");
        stage.play(|scene| {
            let opened = Trial::open(scene.context, scene.log, scene.plan);
            let mut trial = opened.unwrap_or_else(|ended| panic!("{ended:?}"));
            act(&stage, scene, &mut trial);
        });
    }

    fn mended() -> String {
        let percents = "total - total * percent / 100";
        PRICING.1.replace("total - percent", percents)
    }

    fn pricing(after: &str) -> FileChange {
        change(PRICING.0, Some(PRICING.1), Some(after))
    }

    #[test]
    fn a_line_that_somebody_saved_meanwhile_is_not_dropped() {
        with(|stage, scene, trial| {
            stage.write("pricing.py", &format!("RATE = 19\n{}", PRICING.1));
            let refused = apply(scene, trial, &[pricing(&mended())]);
            expect!["write.changed_meanwhile: `pricing.py` was saved by someone else meanwhile, and `RATE = 19` would be lost: read it again"].assert_eq(&refused.unwrap());
            assert_eq!(trial.staged.diff(), "");
            let both = format!("RATE = 19\n{}", mended());
            assert_eq!(apply(scene, trial, &[pricing(&both)]), None);
            assert_eq!(
                trial.content(scene.context, &path("pricing.py")),
                Some(both)
            );
        });
    }

    /// Two functions, one of which repeats a line of the other once it is changed.
    const SHOP: &str = "import json\n\n\ndef price(net):\n    log(net)\n    return net\n\n\ndef label(net):\n    return str(net)\n\n\ndef rate():\n    return 19\n";

    /// Tries a change of a file that was shown and saved by somebody then. Returns the refusal.
    fn tried(shown: &str, saved: &str, after: Option<&str>) -> Option<String> {
        let mut refused = None;
        with(|stage, scene, trial| {
            stage.write("shop.py", shown);
            let spot = Spot::whole(&path("shop.py"), shown.len());
            trial.remember_shown(scene.context, &[spot]);
            stage.write("shop.py", saved);
            let draft = change("shop.py", Some(saved), after);
            refused = trial.keeps_what_was_saved(scene.context, &draft).err();
        });
        refused.map(|refusal| {
            let (_, lost) = refusal.reason.split_once("meanwhile, and ").unwrap();
            lost.trim_end_matches(": read it again").to_owned()
        })
    }

    #[test]
    fn a_saved_line_that_stands_elsewhere_too_is_not_dropped() {
        let draft = SHOP.replace("19", "20");
        for (old, saved, lost) in [
            (
                "    return net\n",
                "    return str(net)\n",
                "`return str(net)` would be lost",
            ),
            (
                "    log(net)\n",
                "    log(net)\n    log(net)\n",
                "`log(net)` would be lost",
            ),
            ("    log(net)\n", "", "`log(net)` would come back"),
            ("import json\n\n\n", "", "`import json` would come back"),
            (
                "\n\n\ndef rate",
                "\n\ndef rate",
                "an empty line would come back",
            ),
            (
                "    log(net)\n    return net\n",
                "    return net\n    log(net)\n",
                "what was changed at `return net` may be lost",
            ),
        ] {
            let saved = SHOP.replace(old, saved);
            assert_eq!(tried(SHOP, &saved, Some(&draft)).as_deref(), Some(lost));
        }
    }

    #[test]
    fn a_line_repeated_among_its_like_is_not_dropped() {
        let shown = "a()\na()\na()\na()\nb()\n";
        let lost = tried(
            shown,
            &format!("a()\n{shown}"),
            Some(&format!("w()\n{shown}")),
        );
        assert_eq!(lost.as_deref(), Some("`a()` would be lost"));
    }

    #[test]
    fn a_file_that_somebody_made_shorter_meanwhile_does_not_go() {
        let saved = SHOP.replace("    log(net)\n", "");
        let lost = tried(SHOP, &saved, None);
        expect!["what was changed at `log(net)` may be lost"].assert_eq(&lost.unwrap());
    }

    #[test]
    fn a_draft_that_holds_what_was_saved_is_not_refused() {
        let function = "def total(nets):\n    return sum(nets)\n\n\ndef label";
        for (old, saved) in [
            ("def label", function),
            ("    return net\n", "    net = float(net)\n    return net\n"),
            ("    log(net)\n", "    log(net)\n    log(net)\n"),
            ("    log(net)\n", ""),
            ("    log(net)\n", "    log(str(net))\n"),
            ("return str(net)", "return repr(net)"),
        ] {
            let saved = SHOP.replace(old, saved);
            for (old, new) in [("import json\n", "import json\nimport re\n"), ("19", "20")] {
                let draft = saved.replace(old, new);
                assert_eq!(tried(SHOP, &saved, Some(&draft)), None, "{draft}");
            }
        }
        // Lines next to each other.
        let saved = SHOP.replace("    return net\n", "    net = float(net)\n    return net\n");
        let draft = saved.replace("    return net\n", "    return net * 2\n");
        assert_eq!(tried(SHOP, &saved, Some(&draft)), None);
    }

    #[test]
    fn what_is_certain_is_made_only_from_the_very_same_file() {
        for now in [format!("{}\n\nRATE = 19\n", PRICING.1), mended()] {
            with(|stage, scene, trial| {
                stage.write("pricing.py", &now);
                let set = ChangeSet::from(vec![pricing(&format!("{}RATE = 19\n", mended()))]);
                let applied = trial.apply_certain(scene.context, scene.plan, &set);
                expect!["write.changed_meanwhile: `pricing.py` was changed while this run waited: run it again"].assert_eq(&said(&applied.unwrap_err()));
                assert_eq!(trial.staged.diff(), "");
            });
        }
    }

    #[test]
    fn a_file_keeps_the_encoding_that_it_has() {
        let text = "# caf\u{e9}\r\nx = 1\r\ny = 1";
        let latin1 = |value: u8| [b"# caf\xe9\r\nx = ", &[value][..], b"\r\ny = 1"].concat();
        let marked = |value: u8| {
            [
                b"\xef\xbb\xbf# caf\xc3\xa9\r\nx = ",
                &[value][..],
                b"\r\ny = 1",
            ]
            .concat()
        };
        for (before, after) in [(latin1(b'1'), latin1(b'2')), (marked(b'1'), marked(b'2'))] {
            with(|stage, scene, trial| {
                stage.write_bytes("conf.py", &before);
                let draft = change("conf.py", Some(text), Some(&text.replace("x = 1", "x = 2")));
                assert_eq!(apply(scene, trial, &[draft]), None);
                let door = scene.context.project.door();
                let staged = trial.staged.read(door, &path("conf.py")).unwrap();
                assert_eq!(staged, Some(after));
            });
        }
    }

    #[test]
    fn a_character_that_the_file_cannot_hold_is_refused_and_the_other_files_with_it() {
        with(|stage, scene, trial| {
            stage.write_bytes("conf.py", b"# caf\xe9\nx = 1\n");
            let before = "# caf\u{e9}\nx = 1\n";
            let draft = change(
                "conf.py",
                Some(before),
                Some("# caf\u{e9}\nx = '\u{20ac}'\n"),
            );
            let refused = apply(scene, trial, &[pricing(&mended()), draft]);
            expect!["draft.encoding: `conf.py` cannot hold `€` in Latin-1: use plain characters"]
                .assert_eq(&refused.unwrap());
            assert_eq!(trial.staged.diff(), "");
        });
    }

    #[test]
    fn a_file_does_not_move_over_another_one() {
        with(|stage, scene, trial| {
            stage.write("shop.py", "x = 1\n");
            let set = ChangeSet {
                files: vec![pricing(&mended())],
                moves: vec![(path("pricing.py"), path("shop.py"))],
            };
            let applied = trial.apply_certain(scene.context, scene.plan, &set);
            expect!["fix.refused: `shop.py` exists already"]
                .assert_eq(&said(&applied.unwrap_err()));
            assert_eq!(trial.staged.diff(), "");
        });
    }
}
