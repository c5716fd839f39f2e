//! The sandbox, attacked by its owner: every attempt an escape would make, made for real from inside.
//! `harness doctor` shows the answers; tests demand them.

use crate::process::sandbox::Sandbox;

/// How one attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The walls held, or what should work works.
    Good,
    /// It got through, or what should work does not.
    Bad,
    /// It got through, as SECURITY.md says of these walls.
    Known,
    /// It could not be tried here.
    Untried,
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// What was tried, for a person.
    pub name: &'static str,
    /// How it ended.
    pub answer: Answer,
}

/// What the attack showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfTest {
    /// The walls that were attacked.
    pub sandbox: Sandbox,
    /// Every attempt, in order.
    pub attempts: Vec<Attempt>,
}

impl SelfTest {
    /// Says whether everything held that these walls promise.
    pub fn held(&self) -> bool {
        !self
            .attempts
            .iter()
            .any(|attempt| attempt.answer == Answer::Bad)
    }
}

/// Attacks the walls of this machine.
pub fn self_test() -> SelfTest {
    attack(crate::process::available_sandbox())
}

#[cfg(not(target_os = "linux"))]
fn attack(sandbox: Sandbox) -> SelfTest {
    // There is no child of our own to attack from: the walls are put up by another program.
    SelfTest {
        sandbox,
        attempts: Vec::new(),
    }
}

#[cfg(target_os = "linux")]
pub(crate) use linux::attack;

#[cfg(target_os = "linux")]
#[path = "attack_linux.rs"]
mod linux;
