package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// webhook is a job with a credential in a header and one in its URL.
func webhook(name, header, token string) *job.Definition {
	d := job.Defaults()
	d.Tenant, d.Name, d.Schedule = "default", name, "@every 1h"
	d.Target = job.Target{Kind: job.TargetHTTP, Method: "POST", URL: "https://x.y/?token=" + token}
	d.Headers = []job.Pair{{Key: "Authorization", Value: header}}
	return &d
}

// wantCredentials checks what the store has.
func wantCredentials(t *testing.T, e *Engine, name, header, token string) {
	t.Helper()
	v, err := e.Get(t.Context(), "default", name)
	if err != nil || v.Def.Headers[0].Value != header || !strings.HasSuffix(v.Def.Target.URL, "="+token) {
		t.Errorf("%s has %v and %s, %v; want %s and %s", name, v.Def.Headers, v.Def.Target.URL, err, header, token)
	}
}

// TestMasksKeepCredentials puts masks: alone, in bulk, behind a real value in one bulk, and for jobs that are not there.
func TestMasksKeepCredentials(t *testing.T) {
	e, _, stop := startEngine(t, &memLog{}, 1)
	defer func() { _ = stop() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, _, err := e.Put(ctx, webhook("a", "one", "two"), nil); err != nil {
		t.Fatal(err)
	}
	v, created, err := e.Put(ctx, webhook("a", job.Mask, job.Mask), nil)
	if err != nil || created || v.Version != 2 || v.Def.Headers[0].Value != "one" {
		t.Errorf("put again: %+v, created %t, %v", v, created, err)
	}
	wantCredentials(t, e, "a", "one", "two")
	if _, _, err := e.Put(ctx, webhook("a", job.Mask, "three"), nil); err != nil {
		t.Error(err)
	}
	wantCredentials(t, e, "a", "one", "three")

	var items []PutItem
	for _, d := range []*job.Definition{webhook("a", "four", job.Mask), webhook("b", job.Mask, "x"), webhook("c", "five", "six"), webhook("c", job.Mask, job.Mask)} {
		p, err := e.prepare(d)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, PutItem{Put: &Put{proposal: p}})
	}
	results := e.PutMany(ctx, items)
	for i, field := range []string{"", "headers.Authorization", "", ""} {
		if e := (*apierr.Error)(nil); field == "" && results[i].Err != nil || field != "" && (!errors.As(results[i].Err, &e) || e.Code != apierr.InvalidField || e.Field != field) {
			t.Errorf("item %d: %v", i, results[i].Err)
		}
	}
	wantCredentials(t, e, "a", "four", "three")
	wantCredentials(t, e, "c", "five", "six")
	if _, err := e.Get(ctx, "default", "b"); err == nil {
		t.Error("a new job was registered with a mask for a credential")
	}
	audit, err := e.Audit(ctx, AuditQuery{Tenant: "default", Limit: 100})
	if err != nil || len(audit.Entries) != 6 {
		t.Fatalf("%d entries, %v", len(audit.Entries), err)
	}
	for _, entry := range audit.Entries {
		for _, secret := range []string{"one", "two", "three", "four", "five", "six"} {
			if strings.Contains(string(entry.Before)+string(entry.After), secret) {
				t.Errorf("the audit log has %q: %q %q", secret, entry.Before, entry.After)
			}
		}
	}
}

// TestMaskIsOfOneVersion: a put with a mask that was prepared before another put, or before the job was deleted, does
// not bring back the credential that was stored then.
func TestMaskIsOfOneVersion(t *testing.T) {
	e, _, stop := startEngine(t, &memLog{}, 1)
	defer func() { _ = stop() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	prepared := func() *core.Put {
		t.Helper()
		p, err := e.prepare(webhook("a", job.Mask, job.Mask))
		if err == nil {
			err = e.readPrior(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	put := func(header string) {
		t.Helper()
		if _, _, err := e.Put(ctx, webhook("a", header, header), nil); err != nil {
			t.Fatal(err)
		}
	}
	put("old")
	p := prepared()
	put("new")
	if err := e.submit(ctx, p); err != nil || !errors.Is(p.Err, core.ErrStale) {
		t.Fatalf("%v, %v; want a proposal that is out of date", err, p.Err)
	}
	if err := e.readPrior(p); err != nil || strings.Contains(string(p.Definition), "old") || !strings.Contains(string(p.Definition), "new") {
		t.Errorf("prepared again: %q, %v", p.Definition, err)
	}
	wantCredentials(t, e, "a", "new", "new")

	p = prepared()
	if _, err := e.Delete(ctx, "default", "a", nil); err != nil {
		t.Fatal(err)
	}
	if err := e.submit(ctx, p); err != nil || apierr.From(p.Err).Code != apierr.InvalidField {
		t.Errorf("after a delete: %v, %v", err, p.Err)
	}
	put("newest")
	p.Err = nil
	if err := e.submit(ctx, p); err != nil || !errors.Is(p.Err, core.ErrStale) {
		t.Errorf("after another registration: %v, %v", err, p.Err)
	}
	wantCredentials(t, e, "a", "newest", "newest")
}

// TestMasksRaceRotation lets callers put masks while another rotates the credential: the last one that was
// acknowledged is the one that is stored.
func TestMasksRaceRotation(t *testing.T) {
	const rotations, others = 150, 4
	e, _, stop := startEngine(t, &memLog{}, 1)
	defer func() { _ = stop() }()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	if _, _, err := e.Put(ctx, webhook("a", "secret-0", "secret-0"), nil); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range others {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				d := webhook("a", job.Mask, job.Mask)
				d.Description = fmt.Sprint(n)
				if _, _, err := e.Put(ctx, d, nil); err != nil && !errors.Is(err, errBusyJob) {
					t.Error(err)
					return
				}
			}
		})
	}
	last := "secret-0"
	for i := range rotations {
		secret := fmt.Sprintf("secret-%d", i+1)
		_, _, err := e.Put(ctx, webhook("a", secret, secret), nil)
		switch {
		case err == nil:
			last = secret
		case !errors.Is(err, errBusyJob):
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
	wantCredentials(t, e, "a", last, last)
}

// TestReportsAreMasked: what a worker says has masks in the place of its job's credentials.
func TestReportsAreMasked(t *testing.T) {
	e, _, stop := startEngine(t, &memLog{}, 1)
	defer func() { _ = stop() }()
	v, _, err := e.Put(t.Context(), webhook("a", "Bearer SEKRET-number-one", "SEKRET-number-two"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &core.Report{Run: job.RunID{Job: v.ID}, Error: "refused SEKRET-number-one", Result: strings.Repeat("SEKRET-number-two ", 60)}
	if err := e.maskReport(p); err != nil {
		t.Fatal(err)
	}
	if p.Error != "refused "+job.Mask || strings.Contains(p.Result, "SEKRET") || len(p.Result) > job.ResultBytesMax {
		t.Errorf("%q and %q", p.Error, p.Result)
	}
	p = &core.Report{Run: job.RunID{Job: v.ID}, Error: "https://u:p@x.y/ " + strings.Repeat("-", job.ErrorBytesMax-27) + "SEKRET-number-one"}
	if err := e.maskReport(p); err != nil || len(p.Error) != job.ErrorBytesMax || strings.Contains(p.Error, "u:p@") || strings.Contains(p.Error, "SEK") {
		t.Errorf("%d bytes: %q, %v", len(p.Error), p.Error, err)
	}
}

// TestReportsTellNothing: a worker that tries parts of a credential does not learn by masks which of them it has.
func TestReportsTellNothing(t *testing.T) {
	e, _, stop := startEngine(t, &memLog{}, 1)
	defer func() { _ = stop() }()
	const secret = "SEKRET-number-one"
	v, _, err := e.Put(t.Context(), webhook("a", "Bearer "+secret, "SEKRET-number-two"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for from := range len(secret) {
		for to := from + 1; to <= len(secret); to++ {
			part := secret[from:to]
			p := &core.Report{Run: job.RunID{Job: v.ID}, Error: "it is " + part, Result: part + " it is, " + part}
			if err := e.maskReport(p); err != nil {
				t.Fatal(err)
			}
			isTold := p.Error != "it is "+part || p.Result != part+" it is, "+part
			if isTold != (part == secret) {
				t.Errorf("%s becomes %q and %q", part, p.Error, p.Result)
			}
		}
	}
}
