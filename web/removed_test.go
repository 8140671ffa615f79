package web

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
)

// TestRightsAfterTheBody: who loses its rights while it sends a body changes nothing by it.
func TestRightsAfterTheBody(t *testing.T) {
	const principal = "principals: [{name: ci, token_sha256: %s, grants: [{tenant: default, role: %s}]}]\n"
	for name, then := range map[string]struct {
		text string
		want int
	}{
		"removed":       {fmt.Sprintf(principal, access.HashToken("other"), "operator"), http.StatusUnauthorized},
		"made a viewer": {fmt.Sprintf(principal, access.HashToken("ci"), "viewer"), http.StatusForbidden},
		"as before":     {fmt.Sprintf("# changed\n"+principal, access.HashToken("ci"), "operator"), http.StatusCreated},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "auth.yaml")
			write := func(text string) {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(fmt.Sprintf(principal, access.HashToken("ci"), "operator"))
			k, err := access.Open(path, apitest.Quiet, func() {})
			if err != nil {
				t.Fatal(err)
			}
			s, _ := serve(t, apitest.StartEngine(t), api.Options{Access: k}, 0)
			w := startWeb(t, Options{Executor: s.Executor, Access: k}, nil)
			conn := w.dial(t)
			body := `{"name":"a","schedule":"@daily","target":{"kind":"nats","subject":"a"}}`
			head := fmt.Sprintf("POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nAuthorization: Bearer ci\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
			if _, err := io.WriteString(conn, head); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // it reads the body now
				t.Fatalf("%q, %v", line, err)
			}
			write(then.text)
			k.Reload()
			if _, err := io.WriteString(conn, body); err != nil {
				t.Fatal(err)
			}
			_, _ = in.ReadString('\n') // the end of the 100
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != then.want {
				t.Errorf("status %d, want %d", res.StatusCode, then.want)
			}
		})
	}
}
