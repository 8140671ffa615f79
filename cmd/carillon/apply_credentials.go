package main

import (
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// unmasked returns a wanted job in which the credentials of the current job replace the masks. The server does the
// same when the job is put. Current is nil if the server has no such job. It is done here as well so that the diff
// shows whether a credential changes.
func unmasked(wanted, current *client.Job) (client.Job, error) {
	d, err := definitionOf(wanted)
	if err != nil || !d.HasMasks() {
		return *wanted, err
	}
	var stored *job.Definition
	if current != nil {
		have, err := definitionOf(current)
		if err != nil {
			return *wanted, err
		}
		stored = &have
	}
	d, err = d.Unmask(stored)
	return withCredentialsOf(wanted, &d), err
}

// maskedPair returns two jobs as a diff shows them: with masks in place of credentials, and with another mask for a
// credential that changes. The masks must differ for a change to be visible, and no diff may contain a secret.
func maskedPair(before, after *client.Job) (pair [2]job.Definition, err error) {
	from, err := definitionOf(before)
	if err != nil {
		return pair, err
	}
	to, err := definitionOf(after)
	return [2]job.Definition{from.Masked(), to.MaskedAfter(&from)}, err
}

// withCredentialsOf returns a job with the headers and the URL of a definition. It copies the map of headers, so
// that the original keeps its own.
func withCredentialsOf(j *client.Job, d *job.Definition) client.Job {
	c := *j
	c.Target.URL = d.Target.URL
	if len(d.Headers)+len(d.SecretHeaders) > 0 {
		c.Headers = make(client.Headers, len(d.Headers)+len(d.SecretHeaders))
	}
	for _, h := range d.Headers {
		c.Headers[h.Key] = h.Value
	}
	for _, h := range d.SecretHeaders {
		c.Headers[h.Key] = client.Secret{Name: h.Value}.Header()
	}
	return c
}
