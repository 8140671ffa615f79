package main

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// checkResult checks a job for a dry run, by the rules that hold on every server. Rules that depend on the
// configuration of a server, such as its payload limit, are not checked. A dry run must not promise more than the
// server keeps: what is accepted here may still be refused for such a limit. At is when the server would accept the job,
// from which an @in counts; 0 if that is not known, and then an @in is refused.
func checkResult(j *client.Job, at instant.Millis) client.PutResult {
	result := client.PutResult{Name: j.Name}
	if err := checkJob(j, at); err != nil {
		e := apierr.From(err)
		result.Error = &client.Error{Code: client.Code(e.Code), Field: e.Field, Message: e.Message}
	}
	return result
}

// checkJob returns why the server would refuse a job; nil if it would not. Targets in private networks are
// accepted, and so are references to secrets, because whether they are allowed is an option of the server.
func checkJob(j *client.Job, at instant.Millis) error {
	def, err := definitionOf(j)
	if err != nil {
		return err
	}
	if at != 0 {
		if err := def.Settle(at); err != nil {
			return err
		}
	}
	if err := def.Validate(job.Rules{PayloadBytesMax: job.PayloadBytesCeiling, AllowPrivateTargets: true, Secrets: true}); err != nil {
		return err
	}
	_, err = schedule.ParseWith(def.Spec(), anyCalendar)
	return err
}

// anyCalendar accepts every name of a calendar: only the server knows which exist. The server refuses an unknown one
// when the job is put.
func anyCalendar(string) (exclude []string, ok bool) { return nil, true }

// definitionOf returns the definition of a job with the defaults filled in, as the server does. It mirrors what the
// API does with a request, field by field, and must follow it when a field is added.
func definitionOf(j *client.Job) (job.Definition, error) {
	d := job.Defaults()
	d.Name = j.Name
	d.Schedule, d.Timezone, d.MaxRuns, d.Jitter = j.Schedule, j.Timezone, j.MaxRuns, time.Duration(j.Jitter)
	d.Schedules, d.Exclude = j.Schedules, j.Exclude
	d.MaxConcurrent, d.PauseOnFailure = j.MaxConcurrent, j.PauseOnFailure
	d.StartsAt, d.EndsAt = millisOf(j.StartsAt), millisOf(j.EndsAt)
	d.Payload, d.PayloadJSON = j.PayloadBase64, false
	if len(j.Payload) > 0 {
		// The same refusal as that of the API, so that a dry run shows the same text.
		if len(j.PayloadBase64) > 0 {
			return d, apierr.Errorf(apierr.InvalidField, "payload_base64", "excludes payload; want one of them")
		}
		d.Payload, d.PayloadJSON = j.Payload, true
	}
	d.Labels, d.Description, d.Paused = pairsOf(j.Labels), j.Description, j.Paused
	setHeaders(&d, j.Headers)
	d.Target = job.Target{Subject: j.Target.Subject, URL: j.Target.URL, Method: "POST", Handler: j.Target.Name, MaxInFlight: j.Target.MaxInFlight}
	d.Target.URLSecret, d.Target.Sign, d.Target.ClientCert = job.SecretRef(j.Target.URLSecret.Name), job.SecretRef(j.Target.Sign.Name), job.SecretRef(j.Target.ClientCert.Name)
	setTenant(&d)
	set(&d.Target.Method, j.Target.Method)
	set(&d.AttemptTimeout, time.Duration(j.AttemptTimeout))
	set(&d.Retry.MaxAttempts, j.Retry.MaxAttempts)
	set(&d.Retry.InitialInterval, time.Duration(j.Retry.InitialInterval))
	set(&d.Retry.Multiplier, j.Retry.Multiplier)
	set(&d.Retry.MaxInterval, time.Duration(j.Retry.MaxInterval))
	set(&d.Retry.MaxAge, time.Duration(j.Retry.MaxAge))
	d.Retry.ClientErrors = j.Retry.ClientErrors
	if j.Retry.Jitter != nil {
		d.Retry.Jitter = *j.Retry.Jitter
	}
	if j.CatchupWindow != nil {
		d.CatchupWindow = time.Duration(*j.CatchupWindow)
	}
	if j.MaxCatchupRuns != nil {
		d.MaxCatchupRuns = *j.MaxCatchupRuns
	}
	return d, errors.Join(
		parseInto(&d.Target.Kind, j.Target.Kind, job.ParseTargetKind),
		parseInto(&d.Completion, j.Completion, job.ParseCompletion),
		parseInto(&d.Overlap, j.OverlapPolicy, job.ParseOverlap),
		parseInto(&d.Missed, j.MissedRunPolicy, job.ParseMissed),
	)
}

// set overwrites a default with a value that is not zero. A zero that the caller meant thus becomes the default, as
// it does in the API.
func set[T comparable](at *T, v T) {
	var zero T
	if v != zero {
		*at = v
	}
}

// parseInto overwrites a default with a word that is not empty.
func parseInto[T any](at *T, word string, parse func(string) (T, error)) error {
	if word == "" {
		return nil
	}
	v, err := parse(word)
	*at = v
	return err
}

// millisOf returns a time in the unit of definitions, rounded up; 0 for no time. Rounded up, because no run may be due
// before the instant that was asked for.
func millisOf(t client.Time) instant.Millis {
	if t.IsZero() {
		return 0
	}
	return instant.Up(t.Time)
}

// pairsOf returns a map as pairs sorted by key, as definitions have them. Sorted, so that equal maps give equal
// definitions.
func pairsOf(m map[string]string) []job.Pair {
	pairs := make([]job.Pair, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, job.Pair{Key: key, Value: m[key]})
	}
	return pairs
}
