package job

import "strings"

// CutText shortens a text to at most the given number of bytes, without cutting a character in two. It drops invalid
// bytes from a text that it shortens, and returns a text that is short enough without a check.
func CutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
