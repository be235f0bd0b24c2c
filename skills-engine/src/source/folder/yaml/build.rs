use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

use super::node::duplicate_key;
use super::{
    Content, Entry, Failure, MOST_ALIASES, MOST_DEPTH, MOST_NODES, MOST_SCALAR_BYTES, Node, Parsed,
    Scalar, too_deep,
};

/// How large a node is, all that aliases in it stand for included.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    scalar_bytes: usize,
    /// Mappings and sequences inside each other.
    depth: usize,
}

/// A mapping or sequence that has not ended.
struct Open<'a> {
    at: usize,
    anchor: usize,
    size: Size,
    children: Children<'a>,
}

enum Children<'a> {
    Sequence(Vec<Rc<Node<'a>>>),
    Mapping {
        entries: Vec<Entry<'a>>,
        key: Option<Rc<Node<'a>>>,
    },
}

/// Makes a tree of events; stops at the first limit.
struct Builder<'a> {
    source: &'a str,
    open: Vec<Open<'a>>,
    /// What aliases stand for: nodes that have ended, by the number of their anchor.
    anchored: HashMap<usize, (Rc<Node<'a>>, Size)>,
    aliases: usize,
    nodes: usize,
    scalar_bytes: usize,
    documents: usize,
    root: Option<Rc<Node<'a>>>,
    duplicate: Option<Rc<Node<'a>>>,
}

pub(super) fn build<'a>(
    source: &'a str,
    parser: Parser<'a, StrInput<'a>>,
) -> Result<Parsed<'a>, Failure> {
    let mut builder = Builder {
        source,
        open: Vec::new(),
        anchored: HashMap::new(),
        aliases: 0,
        nodes: 0,
        scalar_bytes: 0,
        documents: 0,
        root: None,
        duplicate: None,
    };
    for next in parser {
        let (event, span) = next?;
        builder.take(event, span)?;
    }
    Ok(Parsed {
        root: builder.root,
        duplicate: builder.duplicate,
    })
}

impl<'a> Builder<'a> {
    fn take(&mut self, event: Event<'a>, span: Span) -> Result<(), Failure> {
        let at = span.start.byte_offset().unwrap_or(0);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Failure::syntax(at, "a second YAML document begins here"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = self.scalar(text, style, tag.as_deref(), span);
                let size = Size {
                    nodes: 1,
                    scalar_bytes: scalar.text.len(),
                    depth: 0,
                };
                self.count(at, size)?;
                let content = Content::Scalar(scalar);
                self.finish(Rc::new(Node { at, content }), anchor, size);
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(at, anchor, Children::Sequence(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, _) => {
                let children = Children::Mapping {
                    entries: Vec::new(),
                    key: None,
                };
                self.begin(at, anchor, children)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(at, anchor)?,
            // The rest tells nothing of the tree, or comes only when it is asked for.
            _ => {}
        }
        Ok(())
    }

    fn scalar(
        &self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
    ) -> Scalar<'a> {
        let is_plain = style == ScalarStyle::Plain;
        // The parser gives `~` where nothing was written.
        let is_absent = is_plain && text == "~" && span.slice(self.source) != Some("~");
        let is_text = match tag {
            None => !is_plain,
            Some(tag) => !matches!(tag.core_suffix(), Some("null" | "bool" | "int" | "float")),
        };
        Scalar {
            text: if is_absent { Cow::Borrowed("") } else { text },
            is_plain,
            is_text,
            end: span.end.byte_offset().unwrap_or(0),
        }
    }

    fn begin(&mut self, at: usize, anchor: usize, children: Children<'a>) -> Result<(), Failure> {
        if self.open.len() == MOST_DEPTH {
            return Err(Failure::limit(at, too_deep()));
        }
        let size = Size {
            nodes: 1,
            ..Size::default()
        };
        self.count(at, size)?;
        self.open.push(Open {
            at,
            anchor,
            size,
            children,
        });
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else {
            return;
        };
        let mut size = open.size;
        size.depth += 1;
        let content = match open.children {
            Children::Sequence(items) => Content::Sequence(items),
            Children::Mapping { entries, .. } => {
                if let Some(key) = duplicate_key(&entries)
                    && self.duplicate.as_ref().is_none_or(|it| key.at < it.at)
                {
                    self.duplicate = Some(Rc::clone(key));
                }
                Content::Mapping(entries)
            }
        };
        let node = Node {
            at: open.at,
            content,
        };
        self.finish(Rc::new(node), open.anchor, size);
    }

    fn alias(&mut self, at: usize, anchor: usize) -> Result<(), Failure> {
        self.aliases += 1;
        if self.aliases > MOST_ALIASES {
            let message = format!("there are more than {MOST_ALIASES} aliases");
            return Err(Failure::limit(at, message));
        }
        let Some((node, size)) = self.anchored.get(&anchor) else {
            return Err(Failure::limit(at, "an alias stands for what it is part of"));
        };
        let (node, size) = (Rc::clone(node), *size);
        if self.open.len() + size.depth > MOST_DEPTH {
            return Err(Failure::limit(at, too_deep()));
        }
        self.count(at, size)?;
        self.put(node, size);
        Ok(())
    }

    fn count(&mut self, at: usize, size: Size) -> Result<(), Failure> {
        self.nodes += size.nodes;
        self.scalar_bytes += size.scalar_bytes;
        if self.nodes > MOST_NODES {
            let message = format!("there are more than {MOST_NODES} keys and values");
            return Err(Failure::limit(at, message));
        }
        if self.scalar_bytes > MOST_SCALAR_BYTES {
            let message = format!("keys and values have more than {MOST_SCALAR_BYTES} bytes");
            return Err(Failure::limit(at, message));
        }
        Ok(())
    }

    /// Takes a node that has ended.
    fn finish(&mut self, node: Rc<Node<'a>>, anchor: usize, size: Size) {
        if anchor != 0 {
            self.anchored.insert(anchor, (Rc::clone(&node), size));
        }
        self.put(node, size);
    }

    fn put(&mut self, node: Rc<Node<'a>>, size: Size) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        open.size.nodes += size.nodes;
        open.size.scalar_bytes += size.scalar_bytes;
        open.size.depth = open.size.depth.max(size.depth);
        match &mut open.children {
            Children::Sequence(items) => items.push(node),
            Children::Mapping { entries, key } => match key.take() {
                None => *key = Some(node),
                Some(key) => entries.push(Entry { key, value: node }),
            },
        }
    }
}
