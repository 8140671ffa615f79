package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// TestEmptyReplies: a reply of the right kind that lacks what it is about is an error that says so, and so is a refusal without
// a reason.
func TestEmptyReplies(t *testing.T) {
	nc, _ := jetStream(t)
	c, err := client.New(nc, client.Options{NoRetry: true})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(verb, body, code string) {
		t.Helper()
		sub, err := nc.Subscribe("carillon.v1.default."+verb, func(m *nats.Msg) {
			header := nats.Header{"Carillon-Reply": {verb}}
			if code != "" {
				header.Set("Nats-Service-Error-Code", code)
			}
			_ = m.RespondMsg(&nats.Msg{Header: header, Data: []byte(body)})
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.AutoUnsubscribe(1); err != nil {
			t.Fatal(err)
		}
	}
	calls := map[string]func() error{
		"jobs.get": func() error { _, err := c.Get(t.Context(), "a"); return err },
		"jobs.put": func() error { _, _, err := c.Put(t.Context(), client.Job{Name: "a"}); return err },
		"runs.get": func() error { _, err := c.Run(t.Context(), "1"); return err },
	}
	for verb, call := range calls {
		for _, body := range []string{"{}", "null", `{"job":{}}`, `{"run":null}`} {
			answer(verb, body, "")
			err := call()
			if want := "the reply to " + verb + " has no "; !errors.Is(err, client.ErrForeignReply) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v; want %q", verb, body, err, want)
			}
		}
		answer(verb, `{"error":{}}`, "500")
		if err := call(); !errors.Is(err, client.CodeInternal) || err.Error() != "internal: the reply has no text that says why" {
			t.Errorf("%s, a refusal without a reason: %v", verb, err)
		}
	}
	for _, body := range []string{"{}", `{"results":[{"name":"a"}],"accepted":5}`, `{"results":[{},{},{}]}`} {
		answer("jobs.put_many", body, "")
		if _, err := c.PutMany(t.Context(), []client.Job{{Name: "a"}, {Name: "b"}}); err == nil || !strings.Contains(err.Error(), "results for 2 jobs") {
			t.Errorf("put_many, %s: %v", body, err)
		}
	}
}
