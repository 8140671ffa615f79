package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
)

// jetStream runs a NATS server with JetStream, and connects to it.
func jetStream(t *testing.T) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	s := bustest.RunWith(t, &server.Options{JetStream: true, StoreDir: t.TempDir()})
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}

// TestStreamIsNoServer asks everything there is where no server is, and a stream stores what is asked. What it
// acknowledges is no answer, and neither is what it cannot store.
func TestStreamIsNoServer(t *testing.T) {
	nc, js := jetStream(t)
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"carillon.>"}, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "FULL", Subjects: []string{"full.>"}, Storage: jetstream.MemoryStorage, MaxMsgSize: 1, Discard: jetstream.DiscardNew,
	})
	if err != nil {
		t.Fatal(err)
	}
	for prefix, stream := range map[string]string{"carillon": "ORDERS", "full": "FULL"} {
		c, err := client.New(nc, client.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, client.ErrForeignReply) || !strings.Contains(err.Error(), "JetStream stream "+stream+" captures "+prefix+".") {
				t.Errorf("%s: %v; want the stream %s named", what, err, stream)
			}
		}
		for _, v := range verbCalls {
			refused(v.name, v.call(t.Context(), c))
		}
		_, err = c.PutAll(t.Context(), func(yield func(client.Job) bool) { yield(client.Job{Name: "a"}) }, nil)
		refused("put all", err)
		_, err = c.Handover(t.Context(), 0, "")
		refused("handover", err)
		_, err = c.OpenBackup(t.Context(), 0)
		refused("backup", err)
	}
}

// TestWhatIsAnAnswer holds answers of one kind and another against what a request for a list of jobs wants.
func TestWhatIsAnAnswer(t *testing.T) {
	nc, _ := jetStream(t)
	for _, tc := range []struct {
		what   string
		header nats.Header
		body   string
		want   string // in the error; "" is none
	}{
		{"this release", nats.Header{"Carillon-Reply": {"jobs.list"}}, `{"jobs":[]}`, ""},
		{"the release before", nil, `{"jobs":[]}`, ""},
		{"the release before, with more", nil, `{"next_cursor":"x","jobs":null}`, ""},
		{"another verb", nats.Header{"Carillon-Reply": {"jobs.get"}}, `{"jobs":[]}`, "not to"},
		{"an acknowledgement", nil, `{"stream":"S","seq":7}`, "stream S captures"},
		{"an acknowledgement with more", nil, `{"stream":"S","seq":7,"jobs":[],"duplicate":true}`, "stream S captures"},
		{"a failed acknowledgement", nil, `{"error":{"code":503,"description":"no"},"stream":"S","seq":0}`, "stream S captures"},
		{"an empty object", nil, `{}`, "not a Carillon server"},
		{"nothing", nil, ``, "not a Carillon server"},
		{"a text", nil, `"jobs"`, "not a Carillon server"},
		{"a refusal", nats.Header{"Carillon-Reply": {"jobs.list"}, "Nats-Service-Error-Code": {"404"}}, `{"error":{"code":"not_found","message":"x"}}`, "not_found"},
		{"a refusal of the release before", nats.Header{"Nats-Service-Error-Code": {"404"}}, `{"error":{"code":"not_found","message":"x"}}`, "not_found"},
		{"a refusal of another service", nats.Header{"Nats-Service-Error-Code": {"500"}, "Nats-Service-Error": {"oops"}}, ``, "not a Carillon server"},
		{"a refusal of JetStream", nats.Header{"Nats-Service-Error-Code": {"500"}}, `{"error":{"code":503}}`, "not a Carillon server"},
	} {
		sub, err := nc.Subscribe("carillon.v1.default.jobs.list", func(m *nats.Msg) {
			_ = m.RespondMsg(&nats.Msg{Header: tc.header, Data: []byte(tc.body)})
		})
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(nc, client.Options{NoRetry: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.List(t.Context(), client.ListRequest{})
		if foreign := errors.Is(err, client.ErrForeignReply); (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) || foreign == (tc.want == "" || tc.want == "not_found") {
			t.Errorf("%s: %v; want %q", tc.what, err, tc.want)
		}
		_ = sub.Unsubscribe()
	}
}

// TestOwnInboxIsNamed: where no answer comes to an inbox of a prefix that the server may not know, the error says
// what the server needs.
func TestOwnInboxIsNamed(t *testing.T) {
	_, c := clienttest.Connect(t, serverURL, nats.CustomInboxPrefix("_CINBOX"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Status(ctx); !client.IsUnavailable(err) || !strings.Contains(err.Error(), "--inbox-prefix") {
		t.Errorf("%v; want the flag", err)
	}
}
