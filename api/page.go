package api

import "github.com/carillon-io/carillon/client"

// runPage is a page of runs that can be cut shorter.
type runPage struct {
	client.RunPage
	query query
}

// shrink leaves something out of a reply that is too large for one message, and tells whether it found
// anything. The caller can ask again for all that it leaves out.
func shrink(reply any) bool {
	r, ok := reply.(*runPage)
	if !ok || len(r.Runs) == 1 {
		return false
	}
	r.Runs = r.Runs[:len(r.Runs)/2]
	r.NextCursor = r.query.cursor(r.Runs[len(r.Runs)-1].RunID)
	return true
}
