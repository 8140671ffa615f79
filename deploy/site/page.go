package main

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown reads and writes documents as forges show them: with tables, and without HTML of the author.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// page is a document.
type page struct {
	path   string // of its file in the repository, with slashes
	source []byte
	tree   ast.Node
	title  string
	// anchors are the ids of its headings.
	anchors  map[string]bool
	sections []section
	// listed is true for a list of a directory, which is no file.
	listed bool
}

// section is a heading and the text below it, for the search.
type section struct{ ID, Title, text string }

// parsePage parses a document.
func parsePage(name string, source []byte) *page {
	p := &page{path: name, source: source, anchors: make(map[string]bool), title: name}
	ids := &anchors{seen: make(map[string]int)}
	p.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	var current *section
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			p.anchors[string(name)] = true
			p.sections = append(p.sections, section{ID: string(name), Title: plainText(n, source)})
			current = &p.sections[len(p.sections)-1]
			if h.Level == 1 {
				p.title = current.Title
			}
			continue
		}
		if current != nil {
			current.text = strings.TrimSpace(current.text + " " + plainText(n, source))
		}
	}
	return p
}

// output returns the path of the page in the site.
func (p *page) output() string {
	dir, base := path.Split(p.path)
	if base == "README.md" {
		return dir + "index.html"
	}
	return dir + strings.TrimSuffix(base, ".md") + ".html"
}

// plainText returns the text of a node without its marks, with single spaces.
func plainText(n ast.Node, source []byte) string {
	var b bytes.Buffer
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// anchors gives headings their ids, by the rule of forges: small letters, digits, hyphens and underscores; spaces become
// hyphens, everything else is left out; a second heading of the same text gets a number.
type anchors struct{ seen map[string]int }

// Generate implements [parser.IDs].
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(string(bytes.TrimSpace(value))) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	id := b.String()
	n := a.seen[id]
	a.seen[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

// Put implements [parser.IDs].
func (a *anchors) Put(value []byte) { a.seen[string(value)]++ }
