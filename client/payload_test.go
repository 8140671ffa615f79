package client_test

import (
	"encoding/json"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestPayloadsGoThroughUnchanged: every JSON value is a payload, the empty ones too, and comes back as
// it was given.
func TestPayloadsGoThroughUnchanged(t *testing.T) {
	c, err := client.Connect(serverURL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, payload := range []string{`{}`, `[]`, `""`, `0`, `false`, `{"a":[1,2,{"b":"ü"}]}`, `{"a":"\u003cx\u003e","b":1.0,"c":"caf\u00e9\/"}`} {
		j := client.Job{Name: "payload", Schedule: "@every 1h", Target: client.Target{Kind: "nats", Subject: "x"}, Payload: json.RawMessage(payload)}
		if _, _, err := c.Put(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		got, err := c.Get(t.Context(), "payload")
		if err != nil || string(got.Payload) != payload {
			t.Errorf("%s came back as %s (%v)", payload, got.Payload, err)
		}
	}
	j := client.Job{Name: "bytes", Schedule: "@every 1h", Target: client.Target{Kind: "nats", Subject: "x"}, PayloadBase64: []byte{0, 255}}
	if _, _, err := c.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "bytes"); err != nil || string(got.PayloadBase64) != "\x00\xff" {
		t.Errorf("bytes came back as %x (%v)", got.PayloadBase64, err)
	}
}
