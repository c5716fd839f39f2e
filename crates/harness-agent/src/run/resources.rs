//! What a run takes when it first needs it: the project, for writing, and the engine.

use crate::model::{self, Card, Model, ModelError};
use crate::plan::Plan;
use crate::run::context::Context;
use crate::run::ending::{Ended, Ending};
use crate::run::event::EventKind;
use crate::run::log::{Log, first_line};
use crate::run::result::Stopped;
use crate::run::search::Search;
use crate::run::trial::Trial;
use harness_code::request::kind::Kind;

/// What a run has taken so far.
pub(super) struct Resources {
    engine: Engine,
    /// Changes under trial, once the project is taken.
    pub(super) trial: Option<Trial>,
    /// Small changes that are tried beside the model.
    pub(super) search: Option<Search>,
    /// Turns of the model that the goal at hand may take.
    pub(super) steps: u32,
    /// How the last strategy that could not meet the goal ended.
    pub(super) gave_up: Option<Ended>,
}

enum Engine {
    /// Nobody asked for it yet; the caller may have brought a model of its own.
    Unopened(Option<Box<dyn Model>>),
    /// A model that has said what it is.
    Ready(Box<dyn Model>, Card),
    /// Nothing can be asked.
    Missing(Ended),
}

/// A model that can be asked, and what is tried with its replies.
pub(super) struct Ready<'r> {
    pub(super) model: &'r mut dyn Model,
    pub(super) card: Card,
    pub(super) trial: Option<&'r mut Trial>,
    pub(super) search: &'r mut Option<Search>,
}

impl Resources {
    /// Begins with nothing taken.
    pub(super) fn new(model: Option<Box<dyn Model>>, steps: u32) -> Resources {
        Resources {
            engine: Engine::Unopened(model),
            trial: None,
            search: None,
            steps,
            gave_up: None,
        }
    }

    /// Says whether a model is there that said what it is.
    pub(super) fn has_engine(&self) -> bool {
        matches!(self.engine, Engine::Ready(..))
    }

    /// Returns the model, or how an attempt ends without one; asks the engine what it is the first time.
    pub(super) fn engine(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
    ) -> Result<Ready<'_>, Ended> {
        if let Engine::Unopened(brought) = &mut self.engine {
            let opened = match brought.take() {
                Some(model) => Ok(model),
                None => model::open(context.options, context.environment),
            };
            let met = opened.and_then(|mut model| {
                let card = meet(context, log, model.as_mut())?;
                Ok(Engine::Ready(model, card))
            });
            self.engine = met.unwrap_or_else(|error| Engine::Missing(log.engine_failed(&error)));
        }
        match &mut self.engine {
            Engine::Ready(model, card) => Ok(Ready {
                model: model.as_mut(),
                card: card.clone(),
                trial: self.trial.as_mut(),
                search: &mut self.search,
            }),
            Engine::Missing(ended) => Err(ended.clone()),
            Engine::Unopened(_) => Err(Ended::new(Stopped::Engine, "no model was opened")),
        }
    }

    /// Takes the project, where it is not taken yet.
    pub(super) fn trial(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
    ) -> Result<&mut Trial, Ended> {
        let trial = match self.trial.take() {
            Some(trial) => trial,
            None => Trial::open(context, log, plan)?,
        };
        Ok(self.trial.insert(trial))
    }

    /// Takes what work on code needs: an engine, or a search in its place, and the project with its tests run once. Nobody
    /// waits for tests only to learn that there is no engine.
    pub(super) fn begin_work(
        &mut self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
    ) -> Result<&mut Trial, Ended> {
        if let Err(missing) = self.engine(context, log) {
            // Anything but a missing engine is that the prompt may not be sent, or that the user said stop.
            let may_search = missing.stopped == Stopped::Engine && plan.task.kind() == Kind::Fix;
            if !may_search {
                return Err(missing);
            }
        }
        let trial = self.trial(context, log, plan)?;
        trial.baseline(context, log);
        match context.cancel.stopped() {
            true => Err(Ended::interrupted()),
            false => Ok(trial),
        }
    }

    /// Keeps what is proven, takes everything else back, and returns how the run ends.
    pub(super) fn close(
        self,
        context: &Context<'_>,
        log: &mut Log<'_>,
        plan: &Plan,
        ended: Ended,
    ) -> Ending {
        let plan = ended.judged_by.as_deref().unwrap_or(plan);
        let (stopped, summary) = (ended.stopped, ended.summary);
        let Some(trial) = self.trial else {
            return Ending {
                hint: ended.hint,
                diff: ended.proposed.patch,
                changes: ended.proposed.changes,
                known: ended.known,
                ..Ending::new(stopped, summary)
            };
        };
        let has_changes = trial.staged().paths().next().is_some();
        let may_have_broken =
            ended.is_of_drafts && matches!(stopped, Stopped::Steps | Stopped::Stuck);
        let mut ending = match (stopped, &trial.broke) {
            (Stopped::Done, _) if has_changes => trial.keep(context, log, plan, summary),
            // A run that only made things worse says so.
            (_, Some(words)) if may_have_broken => {
                let summary = format!("the change was taken back: {}", first_line(words));
                trial.take_back(context, log, plan, (Stopped::Broke, summary))
            }
            (_, _) => {
                let hang = hanging(&trial).filter(|_| ended.is_of_drafts);
                let summary = [summary].into_iter().chain(hang).collect::<Vec<_>>();
                trial.take_back(context, log, plan, (stopped, summary.join("; ")))
            }
        };
        let was_kept = ending.stopped == Stopped::Done;
        if ending.goals.is_empty() && was_kept == (stopped == Stopped::Done) {
            ending.goals = ended.goals;
        }
        ending.known = ended.known;
        ending.with_hint(&ended.hint)
    }
}

/// Returns the place of a test that hangs: whoever reads on alone begins there.
fn hanging(trial: &Trial) -> Option<String> {
    let mut failures = trial.before()?.failures.iter();
    let hangs = failures.find(|failure| failure.hung.is_some())?;
    Some(format!("{} {}", hangs.id, hangs.message))
}

/// Asks an engine what it is, and tells.
fn meet(
    context: &Context<'_>,
    log: &mut Log<'_>,
    model: &mut dyn Model,
) -> Result<Card, ModelError> {
    let card = model.card(context.cancel)?;
    let host = card.host.name.clone();
    if !card.host.this_machine {
        log.record.hide_host(&host);
        context.hide_credentials();
    }
    log.tell(
        EventKind::Engine,
        &format!("using {} at {host}", card.model),
        [
            ("model", card.model.clone().into()),
            ("host", host.into()),
            ("window", card.window.into()),
        ],
    );
    Ok(card)
}

#[cfg(test)]
mod tests {
    use harness_code::edit::{ChangeSet, FileChange};
    use harness_code::path::RelPath;

    use super::*;
    use crate::run::scripted_tests::{PRICING, Scene, Stage};

    const MENDED: &str =
        "def discount(total, percent):\n    return total - total * percent / 100\n";

    /// Takes the project, stages a change of it where one is given, and ends the run.
    fn close(scene: &mut Scene<'_, '_>, text: Option<&str>, ended: Ended) -> Ending {
        let (context, plan) = (scene.context, scene.plan);
        let trial = scene.resources.trial(context, scene.log, plan).unwrap();
        if let Some(text) = text {
            let change = FileChange {
                path: RelPath::parse(PRICING.0).unwrap(),
                before: Some(PRICING.1.to_owned()),
                after: Some(text.to_owned()),
            };
            let change = ChangeSet::from(vec![change]);
            trial.apply(context, scene.log, plan, &change).unwrap();
            trial.broke = Some("test_discount fails now".to_owned());
        }
        let resources = std::mem::replace(scene.resources, Resources::new(None, 1));
        resources.close(context, scene.log, plan, ended)
    }

    #[test]
    fn only_what_is_proven_reaches_the_disk() {
        for (stopped, on_disk) in [(Stopped::Done, MENDED), (Stopped::Stuck, PRICING.1)] {
            let stage = Stage::pricing();
            let ended = Ended::new(stopped, "as told");
            let came = stage.play(|scene| close(scene, Some(MENDED), ended));
            let was_written = stopped == Stopped::Done;
            assert_eq!(came.value.stopped, stopped);
            assert_eq!(came.value.writes.is_empty(), !was_written);
            assert_eq!(stage.on_disk(PRICING.0), on_disk);
        }
    }

    #[test]
    fn where_nothing_changed_nobody_is_asked() {
        let mut stage = Stage::pricing();
        stage.options.confirm = true;
        let done = || Ended::new(Stopped::Done, "nothing fails");
        let came = stage.play(|scene| close(scene, None, done()));
        let ending = came.value;
        assert_eq!(
            (ending.stopped, ending.summary.as_str()),
            (Stopped::Done, "nothing fails")
        );
        // A change waits for somebody who decides.
        let came = stage.play(|scene| close(scene, Some(MENDED), done()));
        assert_eq!(came.value.stopped, Stopped::Question);
        assert_eq!(stage.on_disk(PRICING.0), PRICING.1);
    }

    #[test]
    fn what_drafts_broke_is_told_of_drafts_only() {
        let ended = |is_of_drafts| Ended {
            is_of_drafts,
            ..Ended::new(Stopped::Stuck, "nothing new")
        };
        let summary = |is_of_drafts| {
            let stage = Stage::pricing();
            let came = stage.play(|scene| close(scene, Some(MENDED), ended(is_of_drafts)));
            (came.value.stopped, came.value.summary)
        };
        let broke = "the change was taken back: test_discount fails now";
        assert_eq!(summary(true), (Stopped::Broke, broke.to_owned()));
        assert_eq!(summary(false), (Stopped::Stuck, "nothing new".to_owned()));
    }

    #[test]
    fn an_engine_is_asked_what_it_is_once() {
        let stage = Stage::pricing().without_engine();
        let came = stage.play(|scene| {
            let mut asked = || scene.resources.engine(scene.context, scene.log).err();
            [asked(), asked()].map(|error| error.map(|ended| (ended.stopped, ended.summary)))
        });
        let missing = Some((Stopped::Engine, "no model server answers".to_owned()));
        assert_eq!(came.value, [missing.clone(), missing]);
        let stage = Stage::pricing().replies([""]);
        let came = stage.play(|scene| {
            for _ in 0..2 {
                assert!(scene.resources.engine(scene.context, scene.log).is_ok());
            }
            scene.resources.has_engine()
        });
        assert!(came.value);
        assert_eq!(came.told(EventKind::Engine).len(), 1);
    }
}
