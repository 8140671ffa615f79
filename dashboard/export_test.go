package dashboard

import "testing"

// Needs returns the verb that each route of the pages needs, by method and path.
func Needs() map[string]string {
	all := make(map[string]string)
	for path, p := range pages {
		all["GET "+path] = string(p.needs)
	}
	for path, a := range actions {
		all["POST "+path] = string(a.needs)
	}
	return all
}

// WithChangedMax bounds the runs that one click changes until the test ends.
func WithChangedMax(t *testing.T, n int) {
	t.Helper()
	before := changedMax
	changedMax = n
	t.Cleanup(func() { changedMax = before })
}

// WithNeed adds the page and the action /needy with a need until the test ends.
func WithNeed(t *testing.T, verb string) {
	t.Helper()
	shown := view{page: "failed", title: "needy is shown"}
	pages["/needy"] = page{needs: need(verb), show: func(*visit) view { return shown }}
	actions["/needy"] = action{need(verb), func(*visit) (string, view) { return "", shown }, place{"/needy"}}
	t.Cleanup(func() {
		delete(pages, "/needy")
		delete(actions, "/needy")
	})
}
