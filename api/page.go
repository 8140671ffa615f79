package api

import (
	"strings"

	"github.com/carillon-io/carillon/client"
)

// jobPage is a page of jobs that can be cut shorter.
type jobPage struct {
	client.JobPage
	query query
}

// runPage is a page of runs that can be cut shorter.
type runPage struct {
	client.RunPage
	query query
}

// shrink leaves something out of a reply that is too large for one message, and tells whether it found
// anything. The caller can ask again for all that it leaves out.
func shrink(reply any) bool {
	switch r := reply.(type) {
	case *jobPage:
		if len(r.Jobs) == 1 {
			return dropPayload(&r.Jobs[0])
		}
		r.Jobs = r.Jobs[:len(r.Jobs)/2]
		r.NextCursor = r.query.cursor(r.Jobs[len(r.Jobs)-1].Name)
		return true
	case *runPage:
		if len(r.Runs) == 1 {
			return false
		}
		r.Runs = r.Runs[:len(r.Runs)/2]
		r.NextCursor = r.query.cursor(r.Runs[len(r.Runs)-1].RunID)
		return true
	case *client.JobReply:
		return dropPayload(&r.Job)
	case *client.PutReply:
		return dropPayload(&r.Job)
	case *client.PutManyReply:
		return clipResults(r)
	}
	return false
}

func dropPayload(j *client.JobInfo) bool {
	if j.PayloadOmitted {
		return false
	}
	j.Payload, j.PayloadBase64, j.PayloadOmitted = nil, nil, true
	return true
}

// clipResults shortens the messages of the refused jobs: which job, which code and which field is
// worth more than the rest.
func clipResults(r *client.PutManyReply) bool {
	const most = 48
	found := false
	for i := range r.Results {
		if e := r.Results[i].Error; e != nil && len(e.Message) > most {
			short := *e
			short.Message = strings.ToValidUTF8(e.Message[:most-len("…")], "") + "…"
			r.Results[i].Error = &short
			found = true
		}
	}
	return found
}
