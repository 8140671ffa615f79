package job

import "strings"

// CutText shortens a text to at most the given number of bytes, without cutting a character in two.
func CutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
