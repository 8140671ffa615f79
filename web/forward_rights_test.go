package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
)

// rightsWith returns the rights of a file in which the principal with the token "who" has a role in the default tenant,
// and the one with the token "root" all of them.
func rightsWith(t *testing.T, role access.Role) *access.Keeper {
	t.Helper()
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text := fmt.Sprintf("principals:\n  - {name: who, token_sha256: %s, grants: [{tenant: default, role: %s}]}\n  - {name: root, token_sha256: %s, grants: [{tenant: \"*\", role: admin}]}\n",
		access.HashToken("who"), role, access.HashToken("root"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := access.Open(path, apitest.Quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestForwardedRights asks a standby and a leader whose files of rights differ, as while they are replaced: the caller sees
// and does what both permit. A node without rights permits all.
func TestForwardedRights(t *testing.T) {
	roles := []access.Role{access.None, access.Viewer, access.Operator, access.Admin} // None: the leader has no rights
	for _, leader := range roles {
		var most api.Options
		if leader != access.None {
			most.Access = rightsWith(t, leader)
		}
		for _, standby := range roles[1:] {
			p := startPair(t, apitest.StartEngine(t), most, api.Options{Access: rightsWith(t, standby)}, 4<<20)
			for _, value := range []string{"first", "planted-value"} { // the audit log has both after the second
				body := apitest.JobWith("name", "-", "headers", `{"X-Plain":"`+value+`","Authorization":"planted-secret"}`)
				if put := p.leader.ask("PUT", "/api/v1/jobs/a", body, "Authorization: Bearer root"); put.status/100 != 2 {
					t.Fatalf("put: %d %s", put.status, put.body)
				}
			}
			both := standby
			if leader != access.None {
				both = min(leader, standby)
			}
			for _, c := range []struct {
				method, path string
				needs        access.Role
				value        bool
				secret       bool
			}{
				{"GET", "jobs/a", access.Viewer, both >= access.Operator, false},
				{"GET", "jobs", access.Viewer, both >= access.Operator, false},
				{"GET", "jobs/a?with_credentials=true", access.Admin, true, true},
				{"GET", "audit", access.Viewer, both >= access.Operator, false},
				{"GET", "status", access.Viewer, false, false},
				{"POST", "jobs/a/pause", access.Operator, both >= access.Operator, false},
				{"DELETE", "calendars/none", access.Admin, false, false},
			} {
				got := p.standby.ask(c.method, "/api/v1/"+c.path, "", "Authorization: Bearer who")
				what := fmt.Sprintf("%s on the standby, %s on the leader: %s %s: %d %s", standby, leader, c.method, c.path, got.status, got.body)
				if isPermitted := got.status != 403 && got.status != 401; isPermitted != (both >= c.needs) {
					t.Error(what)
				}
				if got.status == 200 && (strings.Contains(got.body, "planted-value") != c.value || strings.Contains(got.body, "planted-secret") != c.secret) {
					t.Error(what)
				}
			}
			// Who the caller is, each node says by its own file.
			want := fmt.Sprintf(`"grants":[{"tenant":"default","role":%q}]`, standby)
			if got := p.standby.ask("GET", "/api/v1/whoami", "", "Authorization: Bearer who"); got.status != 200 || !strings.Contains(got.body, want) {
				t.Errorf("whoami of the standby: %d %s; want %s", got.status, got.body, want)
			}
		}
	}
}
