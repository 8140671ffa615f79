package schedule

import (
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
)

// explain returns the error for a word that is not a value of the field, and says what would be right. It recognizes
// forms that other schedulers use. It is called only for words that are refused already, so it may be slow and must
// not be exact.
func (f *cronField) explain(word string) string {
	upper := strings.ToUpper(word)
	switch {
	case word == "":
		return "lacks a value; want a range such as 1-5"
	case strings.Contains(word, "#"):
		return "uses #, the n-th weekday of a month, which belongs into the day of week"
	case f.fullName(word) != "":
		return "has a full name; want " + f.fullName(word)
	case f.moving == nil && (upper == "L" || upper == "LW" || f.hasSuffix(upper, "L")):
		return "uses L, the last day, which belongs into the day of month or the day of week"
	case f.moving == nil && (upper == "W" || f.hasSuffix(upper, "W")):
		return "uses W, the nearest weekday, which belongs into the day of month"
	// No name of a month or a day begins with it.
	case strings.HasPrefix(upper, "H"):
		return "uses H, a value picked by hash, which is not supported; want a number"
	case strings.HasPrefix(word, "*"):
		return "has something after the star; want * or */n"
	case strings.HasPrefix(word, "+"):
		return "has a sign; want plain numbers"
	// parseDigits has refused it, so it has too many digits.
	case isNumber(word):
		return "has a number that is too long"
	case f.names != nil:
		return "has " + apierr.Clip(word) + ", which is no value; want numbers or names such as " + f.names[0]
	}
	return "has " + apierr.Clip(word) + ", which is no value; want numbers, ranges such as 1-5, lists such as 1,15 or steps such as */5"
}

// hasSuffix reports whether a word is a number or a name of the field, followed by a letter.
func (f *cronField) hasSuffix(word, letter string) bool {
	head, found := strings.CutSuffix(word, letter)
	return found && (isNumber(head) || slices.Contains(f.names, strings.ToLower(head)))
}

// fullName returns the short name of a month or day that is written in full, or "".
func (f *cronField) fullName(word string) string {
	lower := strings.ToLower(word)
	for _, full := range []string{
		"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
		"january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
	} {
		for _, name := range f.names {
			if lower == full && name == full[:3] {
				return name
			}
		}
	}
	return ""
}

// isNumber reports whether a text consists of digits, however many; parseDigits refuses long ones.
func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
