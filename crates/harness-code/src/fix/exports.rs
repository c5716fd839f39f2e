//! What a star import brings, followed through the star imports of the module itself.

use super::program::Program;
use super::resolved::Module;
use crate::scope::Exports;
use crate::stdlib;

impl Program<'_> {
    pub(super) fn exports_below(&self, module: &Module, depth: u32) -> Exports {
        match module {
            Module::Standard(name) => {
                // Names that the table misses would be called undefined, so private ones count too.
                Exports::Names(
                    stdlib::members(name)
                        .into_iter()
                        .map(str::to_string)
                        .collect(),
                )
            }
            Module::File(id) => {
                let Some(file) = self.file(*id).filter(|_| depth < 20) else {
                    return Exports::Unknown;
                };
                let dynamic = file.scopes.dynamic;
                if dynamic.module_names
                    || dynamic.module_getattr
                    || dynamic.cut
                    || file.scopes.exports_open
                    || !file.source.is_whole()
                {
                    return Exports::Unknown;
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
                        match self.exports_below(&inner, depth + 1) {
                            Exports::Names(more) => names.extend(more),
                            Exports::Unknown => return Exports::Unknown,
                        }
                    }
                }
                Exports::Names(names)
            }
            Module::Folder(_) | Module::Opaque | Module::Unknown => Exports::Unknown,
        }
    }
}
