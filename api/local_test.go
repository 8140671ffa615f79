package api

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestLocalRefuses what does not come from the client: an unknown verb, a name that is none.
func TestLocalRefuses(t *testing.T) {
	l, err := NewLocal(nil, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tenant, verb, by, body string
		want                   client.Code
	}{
		{"default", "jobs.fly", "", `{}`, client.CodeInternal},
		{"a.b", "jobs.get", "", `{"name":"a"}`, client.CodeInvalidField},
		{"default", "jobs.get", "a\nb", `{"name":"a"}`, client.CodeInvalidField},
		{"default", "jobs.get", "", `{"name":"a"`, client.CodeInvalidJSON},
		{"default", "jobs.get", "", `{"nam":"a"}`, client.CodeUnknownField},
		{"default", "jobs.put", "", `{"name":"a","target":{"kind":"handler","name":"` + strings.Repeat("x", 200) + `"}}`, client.CodeInvalidTarget},
		{"default", "jobs.get", "", `{"name":"a"}`, client.CodeInternal}, // without an engine it panics
	} {
		if _, err := l.Ask(t.Context(), c.tenant, c.verb, c.by, []byte(c.body)); !errors.Is(err, c.want) {
			t.Errorf("%s of %s by %q with %s: %v; want %s", c.verb, c.tenant, c.by, c.body, err, c.want)
		}
	}
}
