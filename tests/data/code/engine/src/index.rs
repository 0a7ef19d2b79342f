//! An inverted index that is held in memory.

use std::collections::HashMap;

/// Where a word stands: the document and how often.
#[derive(Debug, Clone)]
pub struct Posting {
    pub document: u32,
    pub count: u32,
}

/// Something that cuts a text into words.
pub trait Tokenizer {
    fn tokens(&self, text: &str) -> Vec<String>;

    /// Count the words of a text.
    fn count(&self, text: &str) -> usize {
        self.tokens(text).len()
    }
}

pub struct Index {
    postings: HashMap<String, Vec<Posting>>,
}

impl Index {
    /// Add the words of a document to the inverted index.
    pub fn insert(&mut self, document: u32, words: &[String]) {
        for word in words {
            self.postings.entry(word.clone()).or_default().push(Posting { document, count: 1 });
        }
    }

    /// Find the documents that hold every word of a query.
    pub fn search(&self, words: &[String]) -> Vec<u32> {
        let mut found: Option<Vec<u32>> = None;
        for word in words {
            let here: Vec<u32> = self.postings.get(word).map(|p| p.iter().map(|x| x.document).collect()).unwrap_or_default();
            found = Some(match found {
                None => here,
                Some(before) => before.into_iter().filter(|d| here.contains(d)).collect(),
            });
        }
        found.unwrap_or_default()
    }
}
