package apierr

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Clip shortens a caller's text for an error message: to 80 bytes at most, at the border of a character, and an
// ellipsis. A caller may send megabytes where a name belongs; the error must not send them back.
func Clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) { // a text that is not UTF-8 may have no such border
		end--
	}
	return s[:end] + "…"
}

// Indexed returns an error of a member of a list as one that names its place, counted from 0. It replaces the field,
// which is that of the member alone. An error that is not an [Error] becomes an internal one.
func Indexed(err error, list string, i int) error {
	e := From(err)
	return Errorf(e.Code, list+"."+strconv.Itoa(i), "%s", e.Message)
}

// IndexOutside returns the first place in s that is neither a letter, a digit nor in more; or -1. It counts bytes, so
// each character beyond ASCII is outside.
func IndexOutside(s, more string) int {
	for i := range len(s) {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && strings.IndexByte(more, c) < 0 {
			return i
		}
	}
	return -1
}
