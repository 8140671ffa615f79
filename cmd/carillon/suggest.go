package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
)

// The bounds of the search for the job that a misspelt name means.
const (
	// One page of names is compared.
	suggestNamesMax = 1000
	// The command has failed already, so the search must not make its user wait.
	suggestTimeMax = time.Second
)

// orSimilar returns an error as it is, and if it says that a job does not exist, with the name of the job that the caller
// most likely means. It compares the first page of the names with the same first letter. A command asks for it once, so
// that a long list of wrong names costs one request.
func (r *remote) orSimilar(ctx context.Context, name string, err error) error {
	if !client.IsNotFound(err) || name == "" || r.searched {
		return err
	}
	r.searched = true
	ctx, cancel := context.WithTimeout(ctx, suggestTimeMax)
	defer cancel()
	// A name that the server has looked for consists of single bytes.
	page, listErr := r.List(ctx, client.ListRequest{Prefix: name[:1], Limit: suggestNamesMax})
	if listErr != nil {
		return err // which is what the caller has to know
	}
	if similar := similarJob(name, page.Jobs); similar != "" {
		return fmt.Errorf("%w; did you mean %s?", err, similar)
	}
	return err
}

// similarJob returns the name of the job that a misspelt name most likely means; "" if none is close.
func similarJob(name string, jobs []client.JobInfo) string {
	spelt, known := make(map[string]string, len(jobs)), make([]string, len(jobs))
	for i := range jobs {
		known[i] = strings.ToLower(jobs[i].Name)
		spelt[known[i]] = jobs[i].Name
	}
	return spelt[apierr.Nearest(name, known)]
}
