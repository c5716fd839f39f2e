//! Circles of imports: groups of files that need each other to start, and the shortest way round.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::imports::{ImportGraph, Link};
use crate::language::Language;
use crate::symbols::ImportTime;
use crate::tree::SourceTree;

/// Files that import each other in a circle while they start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// All files of the group, in order.
    pub files: Vec<u32>,
    /// The shortest way round: each file imports the next, the last the first.
    pub way: Vec<Tie>,
}

/// One step of a circle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    /// The file that imports.
    pub from: u32,
    /// The file that is imported.
    pub to: u32,
    /// The line of the import.
    pub line: u32,
    /// The names that are taken, or the module itself when it is imported whole.
    pub names: Vec<String>,
}

pub(super) fn circles(graph: &ImportGraph, tree: &SourceTree) -> Vec<Circle> {
    let groups = groups(graph, tree);
    let mut circles: Vec<Circle> = groups
        .into_iter()
        .map(|files| Circle {
            way: way_round(graph, tree, &files),
            files,
        })
        .collect();
    circles.retain(|circle| !circle.way.is_empty());
    circles.sort_by(|a, b| {
        b.files
            .len()
            .cmp(&a.files.len())
            .then(a.files.cmp(&b.files))
    });
    circles
}

/// Only these languages run a file when it is imported, so only there a circle can bite.
fn runs_on_import(language: Language) -> bool {
    matches!(
        language,
        Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx
    )
}

fn starting(graph: &ImportGraph, file: u32) -> impl Iterator<Item = &Link> {
    graph
        .links(file as usize)
        .iter()
        .filter(|link| matches!(link.when, ImportTime::Start | ImportTime::Guarded))
}

/// Tarjan's strongly connected components, without recursion: an import chain can be as long as the project.
fn groups(graph: &ImportGraph, tree: &SourceTree) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let count = tree.files().len();
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0u32; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut groups) = (Vec::new(), Vec::new());
    let mut next = 0u32;
    for root in 0..count as u32 {
        let wanted = tree
            .files()
            .get(root as usize)
            .is_some_and(|file| runs_on_import(file.language));
        if !wanted || index[root as usize] != UNSEEN {
            continue;
        }
        let mut path: Vec<(u32, usize)> = vec![(root, 0)];
        while let Some(&mut (file, ref mut step)) = path.last_mut() {
            let at = file as usize;
            if *step == 0 {
                (index[at], low[at]) = (next, next);
                next += 1;
                stack.push(file);
                on_stack[at] = true;
            }
            let link = starting(graph, file).nth(*step);
            *step += 1;
            match link.map(|link| link.to) {
                Some(to) if index[to as usize] == UNSEEN => path.push((to, 0)),
                Some(to) if on_stack[to as usize] => low[at] = low[at].min(index[to as usize]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some(&(above, _)) = path.last() {
                        low[above as usize] = low[above as usize].min(low[at]);
                    }
                    if low[at] == index[at] {
                        let mut group = Vec::new();
                        while let Some(member) = stack.pop() {
                            on_stack[member as usize] = false;
                            group.push(member);
                            if member == file {
                                break;
                            }
                        }
                        if group.len() > 1 {
                            group.sort_unstable();
                            groups.push(group);
                        }
                    }
                }
            }
        }
    }
    groups
}

/// How many files of a large group are tried as the start of the shortest way: enough to find a short one.
const STARTS: usize = 64;

fn way_round(graph: &ImportGraph, tree: &SourceTree, files: &[u32]) -> Vec<Tie> {
    let members: FxHashSet<u32> = files.iter().copied().collect();
    let mut best: Vec<u32> = Vec::new();
    for &start in files.iter().take(STARTS) {
        let longest = if best.is_empty() {
            usize::MAX
        } else {
            best.len() - 1
        };
        if let Some(way) = shortest_way(graph, start, &members, longest) {
            best = way;
        }
        if best.len() == 2 {
            break;
        }
    }
    let next = |at: usize| best[(at + 1) % best.len()];
    best.iter()
        .enumerate()
        .map(|(at, &from)| tie(graph, tree, from, next(at)))
        .collect()
}

/// Returns the shortest circle through `start` inside the group, when it has at most `longest` files.
fn shortest_way(
    graph: &ImportGraph,
    start: u32,
    members: &FxHashSet<u32>,
    longest: usize,
) -> Option<Vec<u32>> {
    let mut came_from: FxHashMap<u32, (u32, usize)> = FxHashMap::default();
    let mut queue = VecDeque::from([(start, 1usize)]);
    while let Some((file, length)) = queue.pop_front() {
        if length > longest {
            return None;
        }
        for link in
            starting(graph, file).filter(|link| members.contains(&link.to) && link.to != file)
        {
            if link.to == start {
                let mut way = vec![file];
                let mut at = file;
                while at != start {
                    at = came_from.get(&at)?.0;
                    way.push(at);
                }
                way.reverse();
                return Some(way);
            }
            if let Entry::Vacant(unseen) = came_from.entry(link.to) {
                unseen.insert((file, length));
                queue.push_back((link.to, length + 1));
            }
        }
    }
    None
}

fn tie(graph: &ImportGraph, tree: &SourceTree, from: u32, to: u32) -> Tie {
    let mut names = Vec::new();
    let mut line = 0;
    let imports = tree
        .files()
        .get(from as usize)
        .map_or(&[][..], |file| &file.facts.imports);
    for link in starting(graph, from).filter(|link| link.to == to) {
        if line == 0 {
            line = link.line;
        }
        let Some(import) = imports.get(link.import as usize) else {
            continue;
        };
        if import.names.is_empty() {
            names.push(import.module.to_string());
        }
        names.extend(import.names.iter().map(|name| name.name.to_string()));
    }
    names.sort();
    names.dedup();
    Tie {
        from,
        to,
        line,
        names,
    }
}
