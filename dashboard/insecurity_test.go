package dashboard_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/server"
)

// TestInsecurityIsOnEveryPage opens the pages of a server with --insecure: each has the banner, as the first thing of its
// content, and no style of its own, which the policy of the pages would refuse.
func TestInsecurityIsOnEveryPage(t *testing.T) {
	t.Parallel()
	s, err := server.Start(t.Context(), server.Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", HTTPListen: "0.0.0.0:0", Insecure: true, Logger: slog.New(slog.DiscardHandler), Version: "v9.9.9",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	w := &world{t: t, server: s, base: s.Ready().HTTP, http: http.DefaultClient}
	const banner = "<aside class=\"alert\" id=\"insecure\" aria-label=\"Security\"><strong>this server runs with --insecure: 0.0.0.0:0 is open to others: every caller may do everything</strong></aside>"
	for path, status := range map[string]int{
		"/": 200, "/jobs": 200, "/new": 200, "/runs": 200, "/audit": 200, "/playground": 200,
		"/jobs?tenant=a.b": 422, "/job?name=unknown": 404, "/nowhere": 404, "/job/pause": 405,
	} {
		w.check(path, status, "<main id=\"main\" tabindex=\"-1\">\n"+banner)
		if page := w.get(path).body; strings.Contains(page, "style=") {
			t.Errorf("%s has a style of its own", path)
		}
	}
}
