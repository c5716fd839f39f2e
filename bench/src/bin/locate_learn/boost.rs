//! Learns a table of yes-or-no questions that puts the right rows of each case first.

/// One case: its rows of numbers, and which of them are right.
pub(crate) struct Group {
    /// One row a candidate.
    pub(crate) rows: Vec<Vec<f32>>,
    /// Whether each row is what was looked for.
    pub(crate) gold: Vec<bool>,
    /// Right answers there are, found among the rows or not.
    pub(crate) golds: usize,
}

/// How the table is learned.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    /// Trees that are added up.
    pub(crate) rounds: usize,
    /// How much of each tree is taken.
    pub(crate) rate: f32,
    /// Questions in a row.
    pub(crate) depth: usize,
    /// Pull of every leaf towards zero.
    pub(crate) ridge: f32,
    /// Least weight of a leaf.
    pub(crate) least: f32,
    /// Share of the numbers that each tree may ask about.
    pub(crate) sample: f32,
    /// Tables that are learned from different draws and averaged.
    pub(crate) draws: u64,
    /// The places that count: further down nobody looks.
    pub(crate) places: usize,
    /// Whether pairs and cases are evened out: see [`pulls`].
    pub(crate) even: bool,
}

/// A tree in heap order.
pub(crate) type Tree = Vec<Node>;

/// One place in a tree.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    /// Which number is asked about; `None` at a leaf.
    pub(crate) feature: Option<usize>,
    /// Above it, the right side is taken.
    pub(crate) threshold: f32,
    /// What a leaf adds.
    pub(crate) value: f32,
}

/// Share of the cases that each tree is grown from.
const CASES_A_TREE: f32 = 0.8;

struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
}

struct Binned {
    cuts: Vec<Vec<f32>>,
    /// One column a feature.
    bins: Vec<Vec<u8>>,
}

/// Learns trees from the groups, always the same ones from the same groups. Several ways of learning are averaged.
pub(crate) fn learn(groups: &[&Group], ways: &[Settings]) -> Vec<Tree> {
    let binned = bin(groups);
    let one_way = |settings: &Settings| {
        let draws = 0..settings.draws;
        let mut trees: Vec<Tree> = draws
            .flat_map(|draw| learn_once(groups, &binned, settings, draw))
            .collect();
        for node in trees.iter_mut().flatten() {
            node.value /= settings.draws as f32 * ways.len() as f32;
        }
        trees
    };
    ways.iter().flat_map(one_way).collect()
}

fn learn_once(groups: &[&Group], binned: &Binned, settings: &Settings, draw: u64) -> Vec<Tree> {
    let count: usize = groups.iter().map(|group| group.rows.len()).sum();
    let mut score = vec![0f32; count];
    let mut random = Random(88_172_645_463_325_252 + draw * 7_919);
    let mut trees = Vec::new();
    for _ in 0..settings.rounds {
        let (mut pull, mut weight) = (vec![0f32; count], vec![0f32; count]);
        let mut start = 0;
        for group in groups {
            let end = start + group.rows.len();
            if random.next() < CASES_A_TREE {
                pulls(
                    group,
                    settings,
                    &score[start..end],
                    &mut pull[start..end],
                    &mut weight[start..end],
                );
            }
            start = end;
        }
        let used: Vec<usize> = (0..binned.cuts.len())
            .filter(|_| random.next() < settings.sample)
            .collect();
        let rows: Vec<u32> = (0..count as u32)
            .filter(|&row| weight[row as usize] > 0.0)
            .collect();
        let blank = Node {
            feature: None,
            threshold: 0.0,
            value: 0.0,
        };
        let mut tree = vec![blank; (1 << (settings.depth + 1)) - 1];
        let mut grower = Grower {
            binned,
            pull: &pull,
            weight: &weight,
            used: &used,
            settings,
            tree: &mut tree,
        };
        grower.grow(0, settings.depth, &rows);
        for (row, score) in score.iter_mut().enumerate() {
            *score += leaf(&tree, |feature, threshold| {
                above(binned, feature, row, threshold)
            });
        }
        trees.push(tree);
    }
    trees
}

/// Returns the score of one row.
pub(crate) fn judge(trees: &[Tree], row: &[f32]) -> f32 {
    trees
        .iter()
        .map(|tree| leaf(tree, |feature, threshold| row[feature] > threshold))
        .sum()
}

fn leaf(tree: &Tree, above: impl Fn(usize, f32) -> bool) -> f32 {
    let mut at = 0;
    while let Some(feature) = tree[at].feature {
        at = 2 * at
            + if above(feature, tree[at].threshold) {
                2
            } else {
                1
            };
    }
    tree[at].value
}

/// How each row should move, from the pairs that stand in the wrong order (LambdaRank with NDCG).
///
/// Evened out, as LightGBM does it: a pair counts less the further its scores are apart, and a case with many pairs counts
/// as their logarithm, so that no case drowns the others.
fn pulls(group: &Group, settings: &Settings, score: &[f32], pull: &mut [f32], weight: &mut [f32]) {
    let Settings { places, even, .. } = *settings;
    let mut order: Vec<usize> = (0..score.len()).collect();
    order.sort_by(|&one, &other| score[other].total_cmp(&score[one]).then(one.cmp(&other)));
    let mut place = vec![0usize; score.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(at, &row)| place[row] = at);
    let discount = |place: usize| {
        if even || place < places {
            1.0 / (2.0 + place as f32).log2()
        } else {
            0.0
        }
    };
    // A case with one answer tells more about the first place than one with ten.
    let answers = (group.golds as f32).sqrt();
    let ideal: f32 =
        (0..group.golds.min(places)).map(discount).sum::<f32>() * if even { 1.0 } else { answers };
    let spread = order.first().map(|&row| score[row]) != order.last().map(|&row| score[row]);
    let mut total = 0f32;
    for one in (0..score.len()).filter(|&row| group.gold[row]) {
        for other in (0..score.len()).filter(|&row| !group.gold[row]) {
            if place[one].min(place[other]) >= places {
                continue;
            }
            let apart = score[one] - score[other];
            let mut gain = (discount(place[one]) - discount(place[other])).abs() / ideal;
            if even && spread {
                gain /= 0.01 + apart.abs();
            }
            let wrong = 1.0 / (1.0 + apart.exp());
            pull[one] += wrong * gain;
            pull[other] -= wrong * gain;
            total += 2.0 * wrong * gain;
            let certain = wrong * (1.0 - wrong) * gain;
            weight[one] += certain;
            weight[other] += certain;
        }
    }
    if even && total > 0.0 {
        let factor = (1.0 + total).log2() / total / answers;
        pull.iter_mut()
            .chain(weight)
            .for_each(|value| *value *= factor);
    }
}

/// Cuts each number's range at quantiles, half of them in its best tenth, where the right rows are.
fn bin(groups: &[&Group]) -> Binned {
    let width = groups
        .first()
        .and_then(|group| group.rows.first())
        .map_or(0, Vec::len);
    let (mut cuts, mut bins) = (Vec::new(), Vec::new());
    for feature in 0..width {
        let values: Vec<f32> = groups
            .iter()
            .flat_map(|group| group.rows.iter().map(move |row| row[feature]))
            .collect();
        let mut sorted = values.clone();
        sorted.sort_by(f32::total_cmp);
        let count = sorted.len();
        let coarse = (1..16).map(|part| sorted[part * count / 16]);
        let fine = (1..16).map(|part| sorted[count * 9 / 10 + part * count / 160]);
        let mut own: Vec<f32> = coarse.chain(fine).collect();
        own.sort_by(f32::total_cmp);
        own.dedup();
        bins.push(
            values
                .iter()
                .map(|value| own.partition_point(|cut| cut < value) as u8)
                .collect(),
        );
        cuts.push(own);
    }
    Binned { cuts, bins }
}

fn above(binned: &Binned, feature: usize, row: usize, threshold: f32) -> bool {
    let bin = usize::from(binned.bins[feature][row]);
    bin > 0 && binned.cuts[feature][bin - 1] >= threshold
}

struct Grower<'a> {
    binned: &'a Binned,
    pull: &'a [f32],
    weight: &'a [f32],
    used: &'a [usize],
    settings: &'a Settings,
    tree: &'a mut Tree,
}

impl Grower<'_> {
    fn grow(&mut self, at: usize, depth: usize, rows: &[u32]) {
        let sum = |values: &[f32]| rows.iter().map(|&row| values[row as usize]).sum::<f32>();
        let (pull, weight) = (sum(self.pull), sum(self.weight));
        let ridge = self.settings.ridge;
        self.tree[at].value = self.settings.rate * pull / (weight + ridge);
        if depth == 0 {
            return;
        }
        let mut best = (1e-6f32, None);
        for &feature in self.used {
            let mut sums = [(0f32, 0f32); 64];
            let bins = &self.binned.bins[feature];
            for &row in rows {
                let slot = &mut sums[usize::from(bins[row as usize])];
                slot.0 += self.pull[row as usize];
                slot.1 += self.weight[row as usize];
            }
            let (mut below, mut below_weight) = (0.0, 0.0);
            for (bin, &cut) in self.binned.cuts[feature].iter().enumerate() {
                below += sums[bin].0;
                below_weight += sums[bin].1;
                let (rest, rest_weight) = (pull - below, weight - below_weight);
                if below_weight < self.settings.least || rest_weight < self.settings.least {
                    continue;
                }
                let worth = |pull: f32, weight: f32| pull * pull / (weight + ridge);
                let gain =
                    worth(below, below_weight) + worth(rest, rest_weight) - worth(pull, weight);
                if gain > best.0 {
                    best = (gain, Some((feature, cut)));
                }
            }
        }
        let Some((feature, threshold)) = best.1 else {
            return;
        };
        self.tree[at].feature = Some(feature);
        self.tree[at].threshold = threshold;
        let (high, low): (Vec<u32>, Vec<u32>) = rows
            .iter()
            .partition(|&&row| above(self.binned, feature, row as usize, threshold));
        self.grow(2 * at + 1, depth - 1, &low);
        self.grow(2 * at + 2, depth - 1, &high);
    }
}
