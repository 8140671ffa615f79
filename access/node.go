package access

import (
	"fmt"

	"github.com/carillon-io/carillon/apierr"
)

// node is a part of a YAML document, with what this package looks at. A file of 10,000 principals has 200,000 of them, and
// those of the library are three times as large.
type node struct {
	value   string
	content []*node // items of a list; keys and values of a mapping in turn
	line    int     // from 1
	kind    nodeKind
	isNull  bool // a scalar that is left out, or null
}

// nodeKind is what a node is.
type nodeKind byte

// The kinds of nodes.
const (
	kindScalar nodeKind = iota
	kindMapping
	kindList
	kindAlias
)

// kindOf names the kind of a node in errors. An alias is refused like any wrong kind: a file of rights says each thing
// where it holds.
func kindOf(n *node) string {
	switch {
	case n.kind == kindMapping:
		return "a mapping"
	case n.kind == kindList:
		return "a list"
	case n.kind == kindAlias:
		return "an alias, which this file cannot have"
	case n.isNull || n.value == "":
		return "empty"
	default:
		return fmt.Sprintf("%q", apierr.Clip(n.value))
	}
}
