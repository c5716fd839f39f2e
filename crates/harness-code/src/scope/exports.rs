//! What a module gives out: `__all__`, and what a star import of it brings.

use ruff_python_ast::{self as ast, Expr};

use super::build::Builder;
use super::statement::is_name;
use super::{Export, Scopes};

impl<'a> Builder<'a> {
    /// `__all__ = value`.
    pub(super) fn set_exports(&mut self, value: &'a Expr) {
        self.out.exports = Some(Vec::new());
        self.out.exports_open = false;
        self.add_to_exports(value);
    }

    /// `__all__ += value`, or a part of a sum that `__all__` is set to.
    pub(super) fn add_to_exports(&mut self, value: &'a Expr) {
        match value {
            Expr::List(ast::ExprList { elts, .. })
            | Expr::Tuple(ast::ExprTuple { elts, .. })
            | Expr::Set(ast::ExprSet { elts, .. }) => {
                for element in elts {
                    match element {
                        Expr::StringLiteral(text) => {
                            let export = Export {
                                name: text.value.to_str(),
                                span: text.range,
                            };
                            self.add_exports([export]);
                        }
                        _ => self.out.exports_open = true,
                    }
                }
            }
            Expr::BinOp(node) => {
                self.deeper(|walk| {
                    walk.add_to_exports(&node.left);
                    walk.add_to_exports(&node.right);
                });
            }
            _ => {
                self.add_exports([]);
                self.out.exports_open = true;
            }
        }
    }

    /// `__all__.extend(...)`, `__all__.append(...)`.
    pub(super) fn extend_exports(&mut self, expression: &'a Expr) {
        if self.scope != 0 {
            return;
        }
        let Expr::Call(call) = expression else { return };
        let Expr::Attribute(method) = call.func.as_ref() else {
            return;
        };
        if !is_name(&method.value, "__all__") {
            return;
        }
        match (method.attr.as_str(), call.arguments.args.as_ref()) {
            ("extend", [value]) => self.add_to_exports(value),
            ("append", [Expr::StringLiteral(text)]) => {
                let export = Export {
                    name: text.value.to_str(),
                    span: text.range,
                };
                self.add_exports([export]);
            }
            _ => self.out.exports_open = true,
        }
    }
}

impl Scopes<'_> {
    /// The names that `from this import *` brings, star imports of its own left out.
    pub(crate) fn public_names(&self) -> Vec<&str> {
        if let Some(exports) = &self.exports
            && !self.exports_open
        {
            return exports.iter().map(|export| export.name).collect();
        }
        let module = self
            .symbols
            .iter()
            .filter(|symbol| symbol.scope == 0 && (symbol.assigned || symbol.declared_inside));
        let mut names: Vec<&str> = module.map(|symbol| self.name(symbol.name)).collect();
        names.retain(|name| !name.starts_with('_'));
        names.extend(self.exports.iter().flatten().map(|export| export.name));
        names
    }
}
