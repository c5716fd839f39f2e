//! The kinds of change, as the summary of a run names them.

/// Makes the enumeration and the names in one place.
macro_rules! kinds {
    ($($variant:ident $name:literal)*) => {
        /// The kind of a mutation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum MutationKind {
            $(#[doc = $name] $variant,)*
        }

        impl MutationKind {
            /// Returns the name that people read.
            pub fn name(self) -> &'static str {
                match self { $(MutationKind::$variant => $name,)* }
            }

            /// Returns the kind with this name.
            pub(super) fn named(name: &str) -> Option<MutationKind> {
                match name { $($name => Some(MutationKind::$variant),)* _ => None }
            }
        }
    };
}

kinds! {
    Access "access"
    AndOr "and/or"
    ArgumentMissing "argument missing"
    ArgumentSurplus "argument too many"
    ArgumentsSwapped "arguments swapped"
    Assignment "assignment"
    AttributeSurplus "attribute too many"
    Branch "branch"
    Break "break"
    CallMissing "call missing"
    CallSurplus "call too many"
    CommaMissing "comma missing"
    Comparison "comparison"
    Condition "condition"
    Constant "constant"
    Draft "part of a draft"
    Elif "elif"
    Exception "exception"
    Indentation "indentation"
    LineMissing "line missing"
    NameForConstant "name for constant"
    Negation "negation"
    NoneTruth "truth for None"
    OffByOne "off by one"
    OperandOrder "operand order"
    OperandSurplus "operand too many"
    Operator "operator"
    ResetInLoop "reset in the loop"
    Result "result"
    ReturnMissing "return missing"
    Slice "slice"
    Statement "statement"
    StatementOrder "statement order"
    StatementSurplus "statement too many"
    Twin "twin"
    Type "type"
    Word "word"
    WrongAttribute "wrong attribute"
    WrongMethod "wrong method"
    WrongName "wrong name"
    Yield "yield"
}

impl MutationKind {
    /// Returns whether the point of such a change is which way the code goes: that something no longer runs then says
    /// nothing against it.
    pub fn steers(self) -> bool {
        use MutationKind::*;
        matches!(
            self,
            AndOr
                | Break
                | Comparison
                | Condition
                | Constant
                | Draft
                | Elif
                | Indentation
                | LineMissing
                | Negation
                | NoneTruth
                | OffByOne
                | ReturnMissing
                | StatementOrder
        )
    }
}
