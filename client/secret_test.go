package client

import (
	stdjson "encoding/json"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/webhook"
)

// TestSecretsInJSON: references have the form of the API, with this package's JSON and with that of the standard
// library, and come back.
func TestSecretsInJSON(t *testing.T) {
	want := Job{
		Name:    "a",
		Headers: Headers{"Authorization": Secret{"billing/hook"}.Header(), "X-Team": "billing", "X-Odd": `{"secret":"text"}`},
		Target:  Target{Kind: "http", URLSecret: Secret{"billing/url"}, Sign: Secret{"billing/key"}, ClientCert: Secret{"billing/cert"}, MaxInFlight: 3},
	}
	const headers = `{"Authorization":{"secret":"billing/hook"},"X-Odd":"{\"secret\":\"text\"}","X-Team":"billing"}`
	const target = `{"kind":"http","url":{"secret":"billing/url"},"max_in_flight":3,"sign":{"secret":"billing/key"},"client_cert":{"secret":"billing/cert"}}`
	for name, with := range map[string]struct {
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
	}{
		"this":     {func(v any) ([]byte, error) { return json.Marshal(v) }, func(b []byte, v any) error { return json.Unmarshal(b, v, json.RejectUnknownMembers(true)) }},
		"standard": {stdjson.Marshal, stdjson.Unmarshal},
	} {
		text, err := with.marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var parts struct {
			Headers stdjson.RawMessage `json:"headers"`
			Target  stdjson.RawMessage `json:"target"`
		}
		var got Job
		if err := errors.Join(with.unmarshal(text, &got), stdjson.Unmarshal(text, &parts)); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if string(parts.Headers) != headers || string(parts.Target) != target {
			t.Errorf("%s: %s\n%s", name, parts.Headers, parts.Target)
		}
		if !reflect.DeepEqual(got.Headers, want.Headers) || got.Target != want.Target {
			t.Errorf("%s: got %+v", name, got)
		}
		for _, bad := range []string{
			`{"target":{"kind":"http","sign":{"secret":""}}}`, `{"target":{"kind":"http","sign":{}}}`, `{"headers":{"A":{}}}`, `{"headers":{"A":1}}`,
			`{"target":{"kind":"http","url":{"secret":1}}}`, `{"target":{"kind":"http","sign":"whsec_x"}}`,
		} {
			if err := with.unmarshal([]byte(bad), new(Job)); err == nil {
				t.Errorf("%s: %s is accepted", name, bad)
			}
		}
	}
	if err := json.Unmarshal([]byte(`{"target":{"kind":"http","typo":1}}`), new(Job), json.RejectUnknownMembers(true)); err == nil {
		t.Error("an unknown member of a target is accepted where none may be")
	}
}

// TestWebhookVerifier: what the sender signs is accepted, with the default tolerance and either key.
func TestWebhookVerifier(t *testing.T) {
	const key, next = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "a raw key of more than 24 bytes"
	sender, err := webhook.ParseKeys(next)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	body := []byte(`{"a":1}`)
	h := http.Header{}
	h.Set(webhook.HeaderID, "run-1")
	h.Set(webhook.HeaderTimestamp, webhook.Timestamp(now))
	h.Set(webhook.HeaderSignature, webhook.Sign(sender, "run-1", now, body))
	v, err := NewWebhookVerifier(key, next)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Verify(h, body); err != nil {
		t.Error(err)
	}
	if err := v.verify(h, body, now.Add(WebhookTolerance+2*time.Second)); !errors.Is(err, ErrWebhook) {
		t.Errorf("too late: %v", err)
	}
	if err := v.Verify(h, []byte(`{"a":2}`)); !errors.Is(err, ErrWebhook) {
		t.Errorf("another body: %v", err)
	}
	if err := v.Verify(http.Header{}, body); !errors.Is(err, ErrWebhook) {
		t.Errorf("no headers: %v", err)
	}
	for _, keys := range [][]string{nil, {""}, {"short"}, {key, key, key}} {
		if _, err := NewWebhookVerifier(keys...); err == nil {
			t.Errorf("%q are accepted", keys)
		}
	}
}
