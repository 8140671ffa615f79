package main

import (
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// A text that a reader could take for another type is in double quotes. Any other is written in the first of these
// styles whose rule it meets. Double quotes with escapes can hold any text, so a text that no rule foresees is read as
// it was.
//
//	plain            isPlain: one line that begins like a word, without what ends a plain text
//	'single quotes'  isPrintable: one line without invisible characters
//	|                isBlock: several lines that show all their blanks
//	"double quotes"  everything else
//
// The library is not left to choose: it writes << plain, which readers take for a merge, and a first line that begins
// with a tab as a block, which it does not read itself.

// ambiguous matches texts that some reader of YAML 1.1 or 1.2 takes for another type: nothing, booleans, merge keys,
// default values, infinities, numbers with all their bases, and dates. It may match more than these.
var ambiguous = regexp.MustCompile(`^(?i:|~|null|true|false|y|n|yes|no|on|off|<<|=` +
	`|[-+]?\.(inf|nan)|[-+]?0[box][0-9a-f_]+|[-+]?[.0-9][0-9._]*(e[-+]?[0-9]+)?` +
	`|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9]{4}-[0-9].*)$`)

// wordStart matches how a plain text begins. Flags of a command are included; every indicator of YAML is not.
var wordStart = regexp.MustCompile(`^-{0,2}[\p{L}\p{N}/_$(]`)

// plainNumber matches the numbers that every reader takes for numbers. Readers of YAML 1.1 take 1e5 for a text, and
// the library a number that is too large for a float64.
var plainNumber = regexp.MustCompile(`^-?[0-9]{1,100}(\.[0-9]+)?$`)

// styleScalars sets the style of all scalars in a node that was read from JSON.
func styleScalars(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode {
		styleScalar(node)
	}
	for i, child := range node.Content {
		styleScalars(child)
		// A block as a key is legal, but hard to read.
		if isKey := node.Kind == yaml.MappingNode && i%2 == 0; isKey && child.Style == yaml.LiteralStyle {
			child.Style = yaml.DoubleQuotedStyle
		}
	}
}

// styleScalar sets the style of a scalar. Only texts, and numbers that a reader may not know as such, keep their tag:
// true, null and digits show what they are.
func styleScalar(node *yaml.Node) {
	switch {
	case node.Tag == "!!str":
		node.Style = styleOf(node.Value)
	case node.Tag == "!!float" && !plainNumber.MatchString(node.Value):
		node.Style = yaml.TaggedStyle
	default:
		node.Tag = ""
	}
}

// styleOf returns the style of a text; the zero value is plain.
func styleOf(text string) yaml.Style {
	switch {
	case ambiguous.MatchString(text):
		return yaml.DoubleQuotedStyle
	case isPlain(text):
		return 0
	case isPrintable(text):
		return yaml.SingleQuotedStyle
	case isBlock(text):
		return yaml.LiteralStyle
	}
	return yaml.DoubleQuotedStyle
}

// isPlain reports whether a text that is not ambiguous can stand without quotes. A colon before a blank would end a
// key, and a # after one would begin a comment.
func isPlain(text string) bool {
	return wordStart.MatchString(text) && isPrintable(text) &&
		!strings.Contains(text+" ", ": ") && !strings.Contains(text, " #") && !strings.HasSuffix(text, " ")
}

// isBlock reports whether a text can be written as a block. Its first line must show how far the block is indented,
// and no line ends with a blank, because neither a person nor every editor keeps those.
func isBlock(text string) bool {
	first, _, several := strings.Cut(text, "\n")
	if !several || strings.TrimLeft(first, " \t") != first || first == "" {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimRight(line, " \t") != line || !isPrintable(strings.ReplaceAll(line, "\t", "")) {
			return false
		}
	}
	return true
}

// isPrintable reports whether each character of a text is visible or a space. Tabs and all ends of lines are not, among
// them those that only some versions of YAML take for one, such as U+0085 and U+2028.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
