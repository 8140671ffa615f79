package main

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/client"
)

// exportCmd writes jobs as JSON lines.
type exportCmd struct {
	selectFlags
	remoteFlags
}

// Help is what `carillon export --help` says besides the flags.
func (*exportCmd) Help() string {
	return `Each job is one line in the order of names, and import takes it unchanged. What only the server keeps (ids, versions, runs) is left out. A server that goes on meanwhile is no obstacle; a job that changes while it is exported is there as it was before or after.

Examples:

  carillon export > jobs.jsonl
  carillon export --label team=billing | carillon import - --server nats://other:4222`
}

// Run implements the command.
func (c *exportCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	out := con.buffered()
	n := 0
	for j, err := range r.Jobs(ctx, c.request()) {
		if err == nil && j.PayloadOmitted {
			j, err = r.Get(ctx, j.Name)
		}
		if err == nil && j.PayloadOmitted {
			err = fmt.Errorf("%s: its payload does not fit one NATS message; raise the limit of the NATS server (max_payload)", j.Name)
		}
		if err == nil {
			err = out.printJSONLine(ownersPart(&j), ownerOptions)
		}
		if err != nil {
			_ = out.flush()
			return fmt.Errorf("export, after %s: %w", plural(n, "job"), err)
		}
		n++
	}
	return out.flush()
}

// ownersPart is a job without what the server keeps beside it and without empty lists.
func ownersPart(j *client.JobInfo) *client.Job {
	if len(j.Headers) == 0 {
		j.Headers = nil
	}
	if len(j.Labels) == 0 {
		j.Labels = nil
	}
	return &j.Job
}
