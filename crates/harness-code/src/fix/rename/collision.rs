//! Would the new name mean something else somewhere, or something else begin to mean it?

use std::rc::Rc;

use super::super::program::File;
use super::{Renaming, Step, Stop};
use crate::scope::{ScopeId, SymbolId};

impl<'s> Renaming<'_, 's> {
    /// Refuses when giving `symbol` the new name changes what any name in its file refers to.
    pub(super) fn check_collision(&self, file: &Rc<File<'s>>, symbol: SymbolId) -> Step<()> {
        let scopes = &file.scopes;
        let Some(home) = scopes
            .symbols
            .get(symbol as usize)
            .map(|symbol| symbol.scope)
        else {
            return Ok(());
        };
        let Some(new) = scopes.name_id(self.new) else {
            return Ok(());
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
                && self.is_inside(file, scopes.symbols[inner as usize].scope, home)
            {
                let reason = format!(
                    "`{}` means something else where `{}` is used",
                    self.new, self.old
                );
                return Err(Stop::Refuse(
                    reason,
                    self.places(file, [occurrence.span.into()]),
                ));
            }
            // A name that is looked up through the scope would stop there from now on.
            if occurrence.name == new && scopes.visible_from(occurrence.scope).contains(&home) {
                let beyond = occurrence.symbol.is_none_or(|found| {
                    let found = scopes.symbols[found as usize].scope;
                    found != home && self.is_inside(file, home, found)
                });
                if beyond {
                    let reason = format!(
                        "`{}` would shadow another `{}` that is used there",
                        self.new, self.new
                    );
                    return Err(Stop::Refuse(
                        reason,
                        self.places(file, [occurrence.span.into()]),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether `inner` lies inside `outer`.
    fn is_inside(&self, file: &File<'s>, inner: ScopeId, outer: ScopeId) -> bool {
        let mut current = file
            .scopes
            .scopes
            .get(inner as usize)
            .and_then(|scope| scope.parent);
        while let Some(id) = current {
            if id == outer {
                return true;
            }
            current = file
                .scopes
                .scopes
                .get(id as usize)
                .and_then(|scope| scope.parent);
        }
        false
    }
}
