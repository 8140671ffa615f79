package dashboard

import (
	"net/http"
	"strconv"

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

// invalid returns the error of the API for an invalid field.
func invalid(field, format string, args ...any) *client.Error {
	e := refusal(client.CodeInvalidField, http.StatusUnprocessableEntity, format, args...)
	e.Field = field
	return e
}
