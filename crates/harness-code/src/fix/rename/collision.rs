//! Would the new name mean something else somewhere, or something else begin to mean it?

use std::rc::Rc;

use super::super::program::File;
use super::{Renaming, Step, Stop};
use crate::scope::{ScopeId, SymbolId};

impl<'s> Renaming<'_, 's> {
    /// Refuses when giving `symbol` the new name changes what any name in its file refers to.
    pub(super) fn check_collision(&self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        let scopes = &file.scopes;
        let (Some(home), Some(new)) = (scopes.scope_of(symbol), scopes.name_id(self.new)) else {
            return Ok(());
        };
        let is_inside = |inner: ScopeId, outer: ScopeId| {
            let mut around = scopes.around(inner).skip(1);
            around.any(|(id, _)| id == outer)
        };
        if let Some(other) = scopes.symbol_in(home, new) {
            let spans = scopes
                .bindings_of(other)
                .take(1)
                .map(|binding| binding.span.into());
            return Err(Stop::Refuse(
                format!("`{}` exists there already", self.new),
                self.places(file, spans),
            ));
        }
        for occurrence in &scopes.occurrences {
            if occurrence.symbol == Some(symbol)
                && let Some(inner) = scopes.resolve(occurrence.scope, new)
                && scopes
                    .scope_of(inner)
                    .is_some_and(|inner| is_inside(inner, home))
            {
                let reason = format!(
                    "`{}` means something else where `{}` is used",
                    self.new, self.old
                );
                return self.refused_at(reason, file, occurrence.span);
            }
            // A name that is looked up through the scope would stop there from now on.
            let mut visible = scopes.visible_from(occurrence.scope);
            if occurrence.name == new && visible.any(|scope| scope == home) {
                let found = occurrence.symbol.and_then(|found| scopes.scope_of(found));
                let beyond = found.is_none_or(|found| found != home && is_inside(home, found));
                if beyond {
                    let reason = format!(
                        "`{}` would shadow another `{}` that is used there",
                        self.new, self.new
                    );
                    return self.refused_at(reason, file, occurrence.span);
                }
            }
        }
        Ok(())
    }
}
