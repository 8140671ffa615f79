package client

import (
	"net/http"
	"testing"
	"time"

	"github.com/carillon-io/carillon/webhook"
)

// TestWebhookHeadersAreSingle: a request with two values of one of the headers is refused, whichever of them is right.
func TestWebhookHeadersAreSingle(t *testing.T) {
	const key = "a key of more than 24 bytes for tests"
	v, err := NewWebhookVerifier(key)
	if err != nil {
		t.Fatal(err)
	}
	keys, now, body := []webhook.Key{webhook.Key(key)}, time.Now(), []byte("{}")
	signed := http.Header{}
	signed.Set(webhook.HeaderID, "run")
	signed.Set(webhook.HeaderTimestamp, webhook.Timestamp(now))
	signed.Set(webhook.HeaderSignature, webhook.Sign(keys, "run", now, body))
	if err := v.Verify(signed, body); err != nil {
		t.Fatal(err)
	}
	for name := range signed {
		twice := signed.Clone()
		twice.Add(name, "another")
		if err := v.Verify(twice, body); err == nil {
			t.Errorf("two values of %s are accepted", name)
		}
	}
}
