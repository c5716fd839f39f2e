//! A model whose replies are written down, for tests of a run. The last reply repeats. Included by path.

use harness_agent::Cancel;
use harness_agent::model::{
    Abilities, Card, Finish, Heard, Hearing, Host, Model, ModelError, Reply, Request,
};

/// Plays replies from a list and keeps the requests it got.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    replies: Vec<String>,
    /// Every request, in order.
    pub(crate) requests: Vec<Request>,
}

impl Scripted {
    /// Returns a model that says these replies in order.
    pub(crate) fn new<Words: Into<String>>(replies: impl IntoIterator<Item = Words>) -> Scripted {
        Scripted {
            replies: replies.into_iter().map(Into::into).collect(),
            requests: Vec::new(),
        }
    }
}

impl Model for Scripted {
    fn card(&mut self, _cancel: &Cancel) -> Result<Card, ModelError> {
        let host = Host {
            name: "scripted".to_owned(),
            this_machine: true,
        };
        Ok(Card {
            model: "scripted".to_owned(),
            host,
            window: 8192,
            abilities: Abilities::default(),
        })
    }

    fn reply(
        &mut self,
        request: &Request,
        heard: &mut Heard<'_>,
        cancel: &Cancel,
    ) -> Result<Reply, ModelError> {
        if cancel.stopped() {
            return Err(ModelError::Interrupted);
        }
        let index = self
            .requests
            .len()
            .min(self.replies.len().saturating_sub(1));
        self.requests.push(request.clone());
        let text = self.replies.get(index).cloned().unwrap_or_default();
        // A script is short: it is heard to its end.
        let _: Hearing = heard(&text);
        // About four characters a token, as most tokenisers have it for English and code.
        let tokens = |characters: u64| characters.div_ceil(4);
        Ok(Reply {
            prompt_tokens: tokens(request.characters()),
            reply_tokens: tokens(text.chars().count() as u64),
            text,
            finish: Finish::Stop,
            notice: None,
        })
    }
}
