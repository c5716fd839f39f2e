pub fn title(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.split(' ') {
        let (first, rest) = word.split_at(1);
        words.push(first.to_uppercase() + rest);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_a_capital() {
        assert_eq!(title("two words"), "Two Words");
    }
}
