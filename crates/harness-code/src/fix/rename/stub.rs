//! Stubs beside modules: `m.pyi` says again what `m.py` defines, so both change together.

use std::rc::Rc;

use super::super::members::class_of_method;
use super::super::program::File;
use super::super::resolved::ClassRef;
use super::Renaming;
use crate::path::RelPath;
use crate::scope::{BindingKind, ScopeId, SymbolId};

impl<'s> Renaming<'_, 's> {
    /// The stub of a module, or the module of a stub.
    pub(super) fn twin(&self, file: &File<'s>) -> Option<Rc<File<'s>>> {
        let path = self.program.path(file.id)?.as_str();
        let other = match path.strip_suffix(".pyi") {
            Some(stem) => format!("{stem}.py"),
            None => format!("{}.pyi", path.strip_suffix(".py")?),
        };
        let id = self.program.id(&RelPath::parse(&other).ok()?)?;
        self.program.file(id)
    }

    /// The same name in the stub of its module.
    pub(super) fn twin_symbol(&self, file: &Rc<File<'s>>) -> Option<(Rc<File<'s>>, SymbolId)> {
        let twin = self.twin(file)?;
        let symbol = twin.scopes.module_symbol(self.old)?;
        Some((twin, symbol))
    }

    /// The classes of the same name in the stub of a class's module.
    pub(super) fn twins_of_class(&self, class: ClassRef) -> Vec<ClassRef> {
        let ClassRef::Read(id, _) = class else {
            return Vec::new();
        };
        let name = self.class_name(class);
        let twin = self.program.file(id).and_then(|file| self.twin(&file));
        let Some(twin) = twin else {
            return Vec::new();
        };
        let members = twin.members();
        let same = members
            .classes
            .iter()
            .filter(|(_, class)| class.node.name.as_str() == name);
        same.map(|(scope, _)| ClassRef::Read(twin.id, *scope))
            .collect()
    }

    /// The parameter in other definitions of the same function: overloads, branches of an `if`, the stub.
    pub(super) fn same_parameter(
        &self,
        file: &Rc<File<'s>>,
        body: ScopeId,
        function: &str,
    ) -> Vec<(Rc<File<'s>>, SymbolId)> {
        let owner = class_of_method(&file.scopes, body);
        let class = owner.map(|scope| self.class_name(ClassRef::Read(file.id, scope)));
        let mut found = Vec::new();
        for other in [Some(file.clone()), self.twin(file)].into_iter().flatten() {
            let scopes = &other.scopes;
            for binding in &scopes.bindings {
                let BindingKind::Function(node) = binding.kind else {
                    continue;
                };
                if node.name.as_str() != function {
                    continue;
                }
                let Some(inner) = scopes.scope_of_node(node.range) else {
                    continue;
                };
                let holder = class_of_method(scopes, inner)
                    .map(|scope| self.class_name(ClassRef::Read(other.id, scope)));
                let same_owner = other.id != file.id || scopes.owner(inner) == scopes.owner(body);
                let named = node
                    .parameters
                    .iter_non_variadic_params()
                    .any(|parameter| parameter.parameter.name.as_str() == self.old);
                let symbol = scopes.named_in(inner, self.old);
                if holder == class && same_owner && named && (other.id, inner) != (file.id, body) {
                    found.extend(symbol.map(|symbol| (other.clone(), symbol)));
                }
            }
        }
        found
    }
}
