package client

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/carillon-io/carillon/webhook"
)

// WebhookTolerance is how far the timestamp of a signed request may be from the receiver's clock by default.
const WebhookTolerance = 5 * time.Minute

// ErrWebhook is wrapped by the errors of [WebhookVerifier.Verify]: the request is not signed with a key of the
// receiver, was changed on its way, or is too old.
var ErrWebhook = webhook.ErrInvalid

// WebhookVerifier checks the requests of targets with "sign", in a receiver. It is safe for concurrent use.
type WebhookVerifier struct {
	keys []webhook.Key

	// Tolerance is how far the timestamp of a request may be from this machine's clock, in either direction. 0 means
	// [WebhookTolerance]. It must be set before the first Verify.
	Tolerance time.Duration
}

// NewWebhookVerifier returns a verifier with the keys of the receiver: one, or two while they are rotated. Each is
// whsec_ and base64, or the bytes of the key; it has 24 to 64 bytes.
func NewWebhookVerifier(keys ...string) (*WebhookVerifier, error) {
	parsed, err := webhook.ParseKeys(strings.Join(keys, "\n"))
	if err != nil {
		return nil, err
	}
	return &WebhookVerifier{keys: parsed}, nil
}

// Verify returns nil if a request comes from a holder of a key and was not changed. body is the whole body, as it
// arrived; the caller bounds it. A request may arrive more than once: the receiver remembers its webhook-id, which is
// the id of the run, for as long as the tolerance at least. Errors wrap [ErrWebhook].
func (v *WebhookVerifier) Verify(header http.Header, body []byte) error {
	return v.verify(header, body, time.Now())
}

// verify is Verify at a given time.
func (v *WebhookVerifier) verify(header http.Header, body []byte, now time.Time) error {
	tolerance := v.Tolerance
	if tolerance == 0 {
		tolerance = WebhookTolerance
	}
	for _, name := range []string{webhook.HeaderID, webhook.HeaderTimestamp, webhook.HeaderSignature} {
		// Another program that reads the request may take another one of them.
		if n := len(header.Values(name)); n > 1 {
			return fmt.Errorf("%w: it has %s %d times", ErrWebhook, name, n)
		}
	}
	return webhook.Verify(v.keys, webhook.Message{
		ID: header.Get(webhook.HeaderID), Timestamp: header.Get(webhook.HeaderTimestamp), Signature: header.Get(webhook.HeaderSignature),
		Body: body,
	}, now, tolerance)
}
