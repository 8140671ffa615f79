package main

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/crontab"
)

// goneShown is how many names of jobs that are in no line any more are shown, and goneMax how many are counted.
const (
	goneShown = 5
	goneMax   = 1000
)

// noteGone says which jobs an earlier import made of lines that a crontab does not have any more: they go on, as an import deletes
// nothing. An operator who takes a line out of a crontab does not expect that.
func (p *crontabPlan) noteGone(ctx context.Context, con *console, c *client.Client, files []string) error {
	for _, file := range files {
		gone, err := p.gone(ctx, c, file)
		if err != nil {
			return err
		}
		if len(gone) == 0 {
			continue
		}
		shown := strings.Join(gone[:min(len(gone), goneShown)], " ")
		if len(gone) > goneShown {
			shown += " …"
		}
		con.notef("note: not in %s any more, and still there: %s: %s; 'carillon job delete NAME' ends one\n", showFile(file), plural(len(gone), "job"), shown)
	}
	return nil
}

// gone returns the names of the jobs of a crontab, on the machine of the plan, that the import has not put; at most goneMax.
func (p *crontabPlan) gone(ctx context.Context, c *client.Client, file string) (names []string, err error) {
	request := client.ListRequest{Prefix: crontab.NewNames(file).File() + "/", Labels: map[string]string{"source": "crontab"}}
	if p.isOfMachine() {
		request.Labels["host"] = p.host
	}
	for j, err := range c.Jobs(ctx, request) {
		if err != nil || len(names) == goneMax {
			return names, err
		}
		isOther := !p.isOfMachine() && j.Labels["host"] != "" || !p.reader(file).System && userOf(&j) != p.user
		if !isOther && !p.put[j.Name] {
			names = append(names, j.Name)
		}
	}
	return names, nil
}

// userOf returns whose crontab a job is of, if its file has no column for that.
func userOf(j *client.JobInfo) string {
	var of cronPayload
	_ = json.Unmarshal(j.Payload, &of) // another payload has no user
	return of.User
}
