use crate::lowercase;

pub fn snake(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(lowercase).collect();
    words.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined() {
        assert_eq!(snake("Two Words"), "two_words");
    }
}
