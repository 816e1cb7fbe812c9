//! `chunk! { ... }`: the tokens as source text of Lua, and the variables that `$name` captures.

use crate::names;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Error, Result};

/// The text that is being put together.
#[derive(Default)]
struct Source {
    text: String,
    /// Line and column after the last token.
    end: Option<(usize, usize)>,
    captures: Vec<Ident>,
}

pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let mut source = Source::default();
    source.tokens(input)?;
    let (root, text, captures) = (names::root(), source.text, source.captures);
    if captures.is_empty() {
        return Ok(quote! { #root::__private::plain_chunk(#text) });
    }
    let (lua, env) = (names::hidden("lua"), names::hidden("env"));
    let names = captures.iter().map(|name| name.unraw().to_string());
    Ok(quote! {
        #root::__private::chunk(#text, move |#lua: &#root::Lua, #env: &#root::Table| -> #root::Result<()> {
            let _ = #lua;
            #(#env.raw_set(#names, #captures)?;)*
            ::core::result::Result::Ok(())
        })
    })
}

impl Source {
    fn tokens(&mut self, tokens: TokenStream) -> Result<()> {
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.write(open, group.span_open());
                    self.tokens(group.stream())?;
                    self.write(close, group.span_close());
                }
                TokenTree::Punct(dollar) if dollar.as_char() == '$' => match tokens.next() {
                    Some(TokenTree::Ident(name)) => {
                        self.write(&name.unraw().to_string(), name.span());
                        if !self.captures.contains(&name) {
                            self.captures.push(name);
                        }
                    }
                    _ => return Err(Error::new(dollar.span(), "`$` must be followed by the name of a variable")),
                },
                token => {
                    let text = token.span().source_text().unwrap_or_else(|| token.to_string());
                    self.write(&text, token.span());
                }
            }
        }
        Ok(())
    }
    /// Writes a token with the lines and spaces that are before it in the file.
    fn write(&mut self, text: &str, at: Span) {
        let start = at.start();
        match self.end {
            Some((line, column)) if line == start.line => self.spaces(start.column.saturating_sub(column)),
            Some((line, _)) => {
                (line..start.line).for_each(|_| self.text.push('\n'));
                self.spaces(start.column);
            }
            None => {}
        }
        self.text.push_str(text);
        self.end = Some((at.end().line, at.end().column));
    }
    fn spaces(&mut self, n: usize) {
        self.text.extend(core::iter::repeat_n(' ', n));
    }
}
