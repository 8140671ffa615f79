package main

import (
	"fmt"
	"strings"
)

// roff writes a manual page with the macros of man. Only macros that every reader of man pages has are used.
type roff struct{ strings.Builder }

// roffEscapes escape the characters that roff would change: backslashes, dashes and quotes. A dash that is not escaped
// is shown as a hyphen, which cannot be pasted into a shell.
var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roffText escapes a text for roff. The result is ASCII.
func roffText(text string) string {
	var b strings.Builder
	for _, r := range roffEscapes.Replace(text) {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}

// line writes a line of text. A dot at its beginning is escaped: it would make a macro.
func (p *roff) line(text string) {
	text = roffText(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	p.WriteString(text + "\n")
}

// text writes a paragraph.
func (p *roff) text(text string) {
	p.macro("PP")
	p.line(text)
}

// macro writes a macro with its arguments.
func (p *roff) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, arg := range args {
		fmt.Fprintf(p, ` "%s"`, strings.ReplaceAll(roffText(arg), `"`, `\(dq`))
	}
	p.WriteByte('\n')
}

// section begins a section.
func (p *roff) section(title string) { p.macro("SH", title) }

// bold writes a line in bold.
func (p *roff) bold(text string) { p.macro("B", text) }

// item writes a term and its explanation.
func (p *roff) item(head, text string) {
	p.macro("TP")
	p.bold(head)
	p.line(text)
}

// detail writes a help text: paragraphs, and indented lines verbatim. Empty lines separate nothing by themselves:
// each line that is not indented is a paragraph, as help texts have it.
func (p *roff) detail(text string) {
	literal := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		isCode := strings.HasPrefix(line, "  ")
		if line == "" {
			continue
		}
		// A run of indented lines is one block.
		if isCode != literal {
			p.literal(isCode)
			literal = isCode
		}
		if isCode {
			p.line(strings.TrimPrefix(line, "  "))
		} else {
			p.text(line)
		}
	}
	if literal {
		p.literal(false)
	}
}

// literal begins or ends verbatim lines.
func (p *roff) literal(on bool) {
	if on {
		p.macro("PP")
		p.macro("RS", "4")
		p.macro("nf")
		return
	}
	p.macro("fi")
	p.macro("RE")
}
