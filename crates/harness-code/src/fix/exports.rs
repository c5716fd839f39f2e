//! What a star import brings, followed through the star imports of the module itself.

use super::program::Program;
use super::resolved::ResolvedModule;
use crate::stdlib;

impl Program<'_> {
    /// The names that `from module import *` brings; `None` where they cannot be read or are made while the module runs.
    pub(super) fn exports_below(&self, module: &ResolvedModule, depth: u32) -> Option<Vec<String>> {
        match module {
            ResolvedModule::Standard(name) => {
                // Names that the table misses would be called undefined, so private ones count too.
                let members = stdlib::members(name).into_iter();
                Some(members.map(str::to_string).collect())
            }
            ResolvedModule::File(id) => {
                let file = self.file(*id).filter(|_| depth < 20)?;
                if file.scopes.dynamic.may_define_more()
                    || file.scopes.exports_open
                    || !file.source.is_whole()
                {
                    return None;
                }
                let mut names: Vec<String> = file
                    .scopes
                    .public_names()
                    .into_iter()
                    .map(str::to_string)
                    .collect();
                if file.scopes.exports.is_none() {
                    for star in file.scopes.stars() {
                        let inner = self.imported_module(&file, star);
                        names.extend(self.exports_below(&inner, depth + 1)?);
                    }
                }
                Some(names)
            }
            ResolvedModule::Folder(_) | ResolvedModule::Opaque | ResolvedModule::Unknown => None,
        }
    }
}
