package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
)

// tries is the way to a server that treats each try of a bulk registration in its own way; the last way is that of all further
// tries. Each puts the result of one job; nil does not answer.
type tries []func(name string) PutResult

func (w *tries) requestBytesMax() int { return 1 << 20 }

func (w *tries) close() {}

func (w *tries) exchange(ctx context.Context, _ string, body []byte, reply any) error {
	treat := (*w)[0]
	if len(*w) > 1 {
		*w = (*w)[1:]
	}
	if treat == nil {
		<-ctx.Done()
		return &Error{Code: CodeUnavailable, Message: "no answer" + doubtOf(true), Cause: ctx.Err()}
	}
	var request PutManyRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	to := &PutManyReply{}
	for _, j := range request.Jobs {
		r := treat(j.Name)
		if r.Error != nil {
			to.Rejected++
		} else {
			to.Accepted++
		}
		to.Results = append(to.Results, r)
	}
	*reply.(*PutManyReply) = *to
	return nil
}

// takes accepts each job; refuses refuses the job p1.
func takes(name string) PutResult { return PutResult{Name: name, Version: 1} }

func refuses(code Code, message string) func(name string) PutResult {
	return func(name string) PutResult {
		if name != "p1" {
			return takes(name)
		}
		return PutResult{Name: name, Error: &Error{Code: code, Message: message}}
	}
}

// TestRefusalAfterDoubt: a try of a bulk registration may have registered its jobs. The refusal of a job by a later try does not
// say that nothing has changed, unless each try before it said so; a success is one.
func TestRefusalAfterDoubt(t *testing.T) {
	away := refuses(CodeUnavailable, noLeader)
	const unknown = " unknown"
	for name, c := range map[string]struct {
		tries tries
		want  string // the code of the refusal of p1, and whether it is unknown what became of the job; "": it is registered
	}{
		"no answer, and no leader since":      {tries{nil, away}, "unavailable" + unknown},
		"no answer, and a leader later":       {tries{nil, away, away, takes}, ""},
		"no leader all the time":              {tries{away}, "unavailable"},
		"a repetition has no answer":          {tries{away, nil, away}, "unavailable" + unknown},
		"the first refusal leaves it open":    {tries{refuses(CodeUnavailable, "no answer in time"), away}, "unavailable" + unknown},
		"no answer, and one stands by since":  {tries{nil, refuses(CodeNotLeader, "this node leads no more; "+unchanged)}, "unavailable" + unknown},
		"no answer, and too fast then":        {tries{nil, refuses(CodeRateLimited, "too many; "+unchanged), takes}, ""},
		"no answer, and too many jobs by now": {tries{nil, refuses(CodeQuotaExceeded, "the tenant may have 5 jobs")}, "quota_exceeded" + unknown},
		"too many jobs":                       {tries{refuses(CodeQuotaExceeded, "the tenant may have 5 jobs")}, "quota_exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &Client{via: &c.tries, opts: Options{}.withDefaults()}
				got := ""
				totals, err := client.PutAll(t.Context(), slices.Values(jobsNamed(3)), func(r PutResult) {
					if r.Error == nil {
						return
					}
					if got += string(r.Error.Code); strings.Contains(r.Error.Message, "unknown") && r.Error.Cause != nil {
						got += unknown
					}
				})
				if err != nil || totals.Accepted+totals.Rejected != 3 || got != c.want {
					t.Errorf("%+v, %v; refused %q, want %q", totals, err, got, c.want)
				}
			})
		})
	}
}

// TestPutManyInDoubt: the one request of PutMany tells the same as those of PutAll.
func TestPutManyInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &Client{via: &tries{nil, refuses(CodeUnavailable, noLeader)}, opts: Options{}.withDefaults()}
		reply, err := client.PutMany(t.Context(), jobsNamed(3))
		if err != nil || reply.Rejected != 1 {
			t.Fatalf("%+v, %v", reply, err)
		}
		if e := reply.Results[1].Error; !strings.Contains(e.Message, "unknown") || !errors.Is(e, context.DeadlineExceeded) || !IsUnavailable(e) {
			t.Errorf("refused: %v", e)
		}
	})
}

// TestDoubtIsWaitedFor: the shard stays without a leader, and another request has waited for it in vain. A request whose first
// try had no answer waits nevertheless, and learns that its jobs are registered.
func TestDoubtIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := refuses(CodeUnavailable, noLeader)
		client := &Client{via: &tries{nil, away, away, takes}, opts: Options{}.withDefaults()}
		p, wait := &putter{}, &leaderWait{most: time.Second, until: time.Now()}
		for _, j := range jobsNamed(3) {
			text, err := encode(j)
			if err != nil {
				t.Fatal(err)
			}
			p.fill(text)
		}
		b := p.open
		b.body = append(b.body, bulkTail...)
		if err := client.putBulk(t.Context(), b, wait); err != nil || b.reply.Accepted != 3 {
			t.Errorf("%+v, %v", b.reply, err)
		}
	})
}

// TestRateAfterDoubt: a put without an answer is repeated, and refused for its rate. It is repeated again, and what a refusal in the
// end says of the rate is no word on the first try.
func TestRateAfterDoubt(t *testing.T) {
	q := call{verb: "jobs.put", repeatable: true, timeout: time.Minute, tryTimeout: time.Second}
	limited := &Error{Code: CodeRateLimited, Message: "too many; " + unchanged}
	for name, c := range map[string]struct {
		answers []error // from the second try on; the last one stays
		isDone  bool
	}{
		"for a moment": {answers: []error{limited, limited, nil}, isDone: true},
		"for ever":     {answers: []error{limited}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &Client{via: &replies{errs: append([]error{errSilence}, c.answers...)}, opts: Options{}.withDefaults()}
				err := client.exchange(t.Context(), q, nil)
				if c.isDone != (err == nil) || err != nil && (!errors.Is(err, CodeUnavailable) || !strings.Contains(err.Error(), "unknown")) {
					t.Error(err)
				}
			})
		})
	}
}

// errSilence makes replies wait for the end of the try.
var errSilence = errors.New("silence")

// replies is the way to a server whose tries get these errors; the last one stays.
type replies struct{ errs []error }

func (w *replies) requestBytesMax() int { return 1 << 20 }

func (w *replies) close() {}

func (w *replies) exchange(ctx context.Context, _ string, _ []byte, _ any) error {
	err := w.errs[0]
	if len(w.errs) > 1 {
		w.errs = w.errs[1:]
	}
	if errors.Is(err, errSilence) {
		<-ctx.Done()
		return &Error{Code: CodeUnavailable, Message: "no answer" + doubtOf(true), Cause: ctx.Err()}
	}
	return err
}
