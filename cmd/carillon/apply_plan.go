package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// planApply compares the wanted jobs with those of the server. It returns one step for each wanted job, in their
// order, then one for each job to be deleted. It reads and changes nothing. A job outside the set with a wanted name
// is found as well, and taken into the set by the update. Its memory grows with the set. A job of the set that the
// file does not have is left alone without prune, so that a shortened file deletes nothing by accident.
func planApply(ctx context.Context, r *remote, wanted []wantedJob, set string, prune bool) ([]applyStep, error) {
	have, inClear, err := jobsOfSet(ctx, r, set)
	if err != nil {
		return nil, fmt.Errorf("list the jobs of the set %s: %w", set, err)
	}
	var steps []applyStep
	for i := range wanted {
		w := &wanted[i]
		current, ok := have[w.job.Name]
		// What is left at the end is in the set and not in the file.
		delete(have, w.job.Name)
		// A job of that name may be outside the set, or have been listed without its payload: both are read by
		// name.
		if !ok || current.PayloadOmitted {
			var err error
			if current, err = r.get(ctx, w.job.Name, inClear); err != nil && !client.IsNotFound(err) {
				return nil, fmt.Errorf("%s: %w", w.job.Name, err)
			}
		}
		step, err := planJob(w, &current)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.job.Name, err)
		}
		steps = append(steps, step)
	}
	if prune {
		for _, name := range slices.Sorted(maps.Keys(have)) {
			steps = append(steps, applyStep{name: name, action: actionDelete, version: have[name].Version})
		}
	}
	return steps, nil
}

// jobsOfSet returns the jobs of a set by name, with their credentials in clear: a comparison with the file needs them.
// inClear is false if the server was asked again without. One of the first release refuses the unknown field, and masks
// nothing. A caller who may not read credentials gets masks: a job whose file has a literal credential is then always an
// update, because whether the credential changes is not known.
func jobsOfSet(ctx context.Context, r *remote, set string) (have map[string]client.JobInfo, inClear bool, err error) {
	for _, inClear = range []bool{true, false} {
		have, err = make(map[string]client.JobInfo), nil
		var j client.JobInfo
		for j, err = range r.Jobs(ctx, client.ListRequest{Labels: map[string]string{setLabel: set}, Limit: 1000, WithCredentials: inClear}) {
			if err != nil {
				break
			}
			have[j.Name] = j
		}
		if !errors.Is(err, client.CodeUnknownField) && !client.IsForbidden(err) {
			break
		}
	}
	return have, inClear, err
}

// planJob decides what to do with one job. Current has no name if the server has no such job. The defaults of the
// server are filled in on both sides before the comparison, so that a file may leave them out. A job whose payload was
// too long to be listed is always an update if it cannot be read. A job that is new is not compared; the masks in
// it are checked all the same, because nothing could replace them.
func planJob(w *wantedJob, current *client.JobInfo) (applyStep, error) {
	s := applyStep{name: w.job.Name, action: actionCreate, wanted: w.job, version: current.Version}
	if current.Name == "" {
		_, err := unmasked(&w.job, nil)
		return s, err
	}
	// A file that says nothing about it leaves a pause by an operator alone.
	if !w.saysPaused {
		s.wanted.Paused = current.Paused
	}
	wanted, err := unmasked(&s.wanted, &current.Job)
	if err != nil {
		return s, err
	}
	before, err := fullJob(&current.Job)
	if err != nil {
		return s, fmt.Errorf("the server's definition: %w", err)
	}
	after, err := fullJob(&wanted)
	if err != nil {
		return s, err
	}
	// A payload that could not be read cannot be compared, so the put decides.
	if reflect.DeepEqual(before, after) && !current.PayloadOmitted {
		s.action = actionKeep
		return s, nil
	}
	s.action = actionUpdate
	s.diff, err = diffJobs(&before, &after)
	return s, err
}

// fullJob returns a job with every default filled in, in canonical form: jobs with the same meaning give equal values.
// It must name each field that a definition can have: a field that is missing here could change without being noticed.
func fullJob(j *client.Job) (client.Job, error) {
	d, err := definitionOf(j)
	if err != nil {
		return client.Job{}, err
	}
	full := client.Job{
		Name: d.Name, Exclude: d.Exclude, Timezone: d.Timezone, MaxRuns: d.MaxRuns, Jitter: client.Duration(d.Jitter),
		StartsAt: j.StartsAt, EndsAt: j.EndsAt, Target: j.Target, PayloadBase64: j.PayloadBase64,
		Headers: j.Headers, Completion: d.Completion.String(), AttemptTimeout: client.Duration(d.AttemptTimeout),
		Retry: client.Retry{
			MaxAttempts: d.Retry.MaxAttempts, InitialInterval: client.Duration(d.Retry.InitialInterval), Multiplier: d.Retry.Multiplier,
			MaxInterval: client.Duration(d.Retry.MaxInterval), MaxAge: client.Duration(d.Retry.MaxAge), Jitter: &d.Retry.Jitter, ClientErrors: d.Retry.ClientErrors,
		},
		PauseOnFailure: d.PauseOnFailure, OverlapPolicy: d.Overlap.String(), MaxConcurrent: d.MaxConcurrent,
		MissedRunPolicy: d.Missed.String(), CatchupWindow: (*client.Duration)(&d.CatchupWindow), MaxCatchupRuns: &d.MaxCatchupRuns,
		Paused: d.Paused, Labels: j.Labels, Description: d.Description,
	}
	// Only such a target has a method, and its default is filled in.
	if d.Target.Kind == job.TargetHTTP {
		full.Target.Method = d.Target.Method
	}
	// A list of one means the same as the single schedule.
	if full.Schedule, full.Schedules = d.Schedule, d.Schedules; len(d.Schedules) == 1 {
		full.Schedule, full.Schedules = d.Schedules[0], nil
	}
	full.Payload, err = samePayload(j.Payload)
	return withoutEmpty(full), err
}

// samePayload returns a JSON payload in canonical form. The order of members and the digits of numbers count. Two
// payloads that mean the same but are written differently are therefore an update, as they are for a target.
func samePayload(payload []byte) ([]byte, error) {
	if len(payload) == 0 {
		return nil, nil
	}
	return jsontext.AppendFormat(nil, payload)
}

// withoutEmpty replaces empty lists and maps by nil, so that they compare as equal. The API does not distinguish an
// empty list from none.
func withoutEmpty(j client.Job) client.Job {
	if len(j.Headers) == 0 {
		j.Headers = nil
	}
	if len(j.Labels) == 0 {
		j.Labels = nil
	}
	if len(j.PayloadBase64) == 0 {
		j.PayloadBase64 = nil
	}
	if len(j.Exclude) == 0 {
		j.Exclude = nil
	}
	if len(j.Schedules) == 0 {
		j.Schedules = nil
	}
	return j
}

// diffJobs returns a unified diff of the JSON of two jobs, with their credentials masked. It compares the texts that
// export would write, so that a diff reads like the file.
func diffJobs(before, after *client.Job) (string, error) {
	pair := []*client.Job{before, after}
	masked, err := maskedPair(before, after)
	if err != nil {
		return "", err
	}
	var texts [2][]string
	for i, definition := range masked {
		b, err := json.Marshal(withCredentialsOf(pair[i], &definition), jsonOptions, ownerOptions, jsontext.WithIndent("  "))
		if err != nil {
			return "", err
		}
		texts[i] = strings.Split(string(b), "\n")
	}
	return unifiedDiff("server/"+before.Name, "file/"+after.Name, texts[0], texts[1]), nil
}
