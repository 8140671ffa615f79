package dashboard

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// rows returns the number of rows of a list: the parameter limit, which is at most pageRows. A larger number is cut
// and not refused.
func (v *visit) rows() (int, error) {
	text := v.query.Get("limit")
	if text == "" {
		return pageRows, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, invalid("limit", "%q is not a number of rows; want 1 to %d", clip(text), pageRows)
	}
	return min(n, pageRows), nil
}

// first returns the address of the first page of a list; "" on the first page. Cursors lead only forward, so this is
// the way back.
func (v *visit) first() string {
	if v.query.Get("cursor") == "" {
		return ""
	}
	var pairs []string
	for name, values := range v.query {
		if name == "cursor" || name == "tenant" || name == "notice" || name == "n" {
			continue
		}
		for _, value := range values {
			pairs = append(pairs, name, value)
		}
	}
	return v.link(v.path, pairs...)
}

// timeLayouts lists the notations of an instant in forms: those that users may type, and those that
// browsers send. All are in UTC.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// readTime parses an instant in a form; "" gives the zero Time. Times without a zone are read as UTC, as all pages
// show them; the zone of the browser is unknown here.
func readTime(field, text string) (client.Time, error) {
	if text == "" {
		return client.Time{}, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return client.At(t), nil
		}
	}
	return client.Time{}, invalid(field, "%q is not a time; want UTC such as 2026-12-01T08:00", clip(text))
}

// inputTime returns an instant in the notation of a browser's datetime field. A text that is not an
// instant gives "", because browsers show nothing else. Fractions of a second are dropped, because the field of a
// browser has none by default.
func inputTime(text string) string {
	t, err := readTime("", text)
	if err != nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

// invalid returns the error of the API for an invalid field.
func invalid(field, format string, args ...any) *client.Error {
	e := refusal(client.CodeInvalidField, http.StatusUnprocessableEntity, format, args...)
	e.Field = field
	return e
}
