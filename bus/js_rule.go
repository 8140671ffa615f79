package bus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
)

// jsRule says which streams a tenant may have in its account, and where JetStream may publish there. A stream receives all
// that is published on its subjects, whatever the rights of who made it, and acknowledges it in the place of the service that is
// asked there; and what a stream or a consumer publishes has no rights at all. So the subjects of requests, their replies,
// and those of NATS itself are none of them.
type jsRule struct {
	prefix  string
	inboxes *inbox.Rule
}

// check refuses a stream with a subject on which another client is asked or answered, one that publishes there, and one that
// takes batches. The error says what would be right.
func (r jsRule) check(c *server.StreamConfig) error {
	// JetStream keeps the messages of an open batch outside the stream, counts them for no account, and has so many open
	// batches for all accounts together.
	if c.AllowAtomicPublish || c.AllowBatchPublish {
		return errors.New("the stream would take batches, whose places all tenants share and whose bytes no quota counts; leave allow_atomic and allow_batched out")
	}
	for _, subject := range c.Subjects {
		if err := r.checkSubject(subject); err != nil {
			return fmt.Errorf("the stream would receive %q, %w", apierr.Clip(subject), err)
		}
	}
	if c.RePublish != nil {
		if err := r.checkTarget(c.RePublish.Destination); err != nil {
			return fmt.Errorf("the stream would publish to %q, %w", apierr.Clip(c.RePublish.Destination), err)
		}
	}
	for _, source := range append([]*server.StreamSource{c.Mirror}, c.Sources...) {
		switch {
		case source == nil:
		case source.External != nil:
			return errors.New("the stream would be filled through external subjects, and there are none from this account to another; leave external out")
		case source.Consumer != nil && source.Consumer.DeliverSubject != "":
			if err := r.checkTarget(source.Consumer.DeliverSubject); err != nil {
				return fmt.Errorf("the stream would be filled from %q, %w", apierr.Clip(source.Consumer.DeliverSubject), err)
			}
		}
	}
	return nil
}

// The families of subjects of NATS that are a tenant's own.
var ownFamilies = []string{"$KV.", "$O.", "$JS.EVENT."}

// checkSubject refuses a pattern of subjects that a tenant's stream must not receive. The text continues the pattern.
func (r jsRule) checkSubject(pattern string) error {
	switch first, _, _ := strings.Cut(pattern, "."); {
	case strings.ContainsAny(first, "*>"):
		return errors.New("which includes requests and their replies; want a pattern whose first token is a word, such as work.>")
	case r.isNotice(pattern):
		return nil
	}
	return r.checkReserved(pattern)
}

// checkTarget refuses a destination to which a tenant's stream must not publish. The text continues the destination.
func (r jsRule) checkTarget(destination string) error {
	pattern := asPattern(destination)
	if strings.HasPrefix(pattern, "*") || strings.HasPrefix(pattern, ">") {
		return errors.New("which includes requests and their replies; want a subject whose first token is a word, such as copies.>")
	}
	return r.checkReserved(pattern)
}

func (r jsRule) checkReserved(pattern string) error {
	first, _, _ := strings.Cut(pattern, ".")
	switch {
	case strings.HasPrefix(pattern, "$"):
		for _, family := range ownFamilies {
			if strings.HasPrefix(pattern, family) {
				return nil
			}
		}
		return errors.New("which is for NATS itself; want subjects that do not begin with $, apart from $KV, $O and $JS.EVENT")
	case strings.HasPrefix(first, "_") || r.inboxes.Overlaps(pattern):
		return errors.New("which is for replies; want subjects of your own, such as work.>")
	case server.SubjectsCollide(pattern, r.prefix+".>") || pattern == r.prefix:
		return fmt.Errorf("which is for Carillon; want subjects of your own, or %[1]s.dead.TENANT and %[1]s.events.TENANT.>", r.prefix)
	}
	return nil
}

// isNotice reports whether all subjects of a pattern are those of dead letters and events, which a tenant may keep.
func (r jsRule) isNotice(pattern string) bool {
	return strings.HasPrefix(pattern, r.prefix+".dead.") || strings.HasPrefix(pattern, r.prefix+".events.")
}

// asPattern returns the pattern of what a destination can become. The server fills in {{…}} and $1, with several tokens at
// times; an empty destination stands for every subject.
func asPattern(destination string) string {
	tokens := strings.Split(destination, ".")
	for i, token := range tokens {
		if token == "" || strings.ContainsAny(token, "{}") || i > 0 && strings.HasPrefix(token, "$") {
			return strings.Join(append(tokens[:i], ">"), ".")
		}
	}
	return destination
}

// checkDelivery refuses a subject on which a consumer, or a snapshot of a stream, would publish what is stored. Inboxes of
// clients are for that. JetStream has subjects of its own for what it copies from one stream to another.
func (r jsRule) checkDelivery(subject string, byStreams bool) error {
	isInbox := strings.HasPrefix(subject, "_") && !strings.HasPrefix(subject, inbox.OfRuns) && !strings.HasPrefix(subject, "_R_") && !strings.HasPrefix(subject, "_GR_")
	isCopy := byStreams && (strings.HasPrefix(subject, "$JS.M.") || strings.HasPrefix(subject, "$JS.S."))
	if subject == "" || isInbox || isCopy || r.inboxes.Allows(subject) && !strings.HasPrefix(subject, "_") {
		return nil
	}
	return r.checkReserved(subject)
}

// checkRequest refuses a request by what is in it. It reads the request as the NATS server does; a body that two readers
// could understand differently is refused.
func (r jsRule) checkRequest(kind *jsRequest, byStreams bool, body []byte) error {
	if err := checkSize(kind, body); err != nil {
		return err
	}
	switch kind.answer {
	case "stream_create", "stream_update":
		var q server.StreamConfigRequest
		if err := decodeOnce(body, &q); err != nil {
			return err
		}
		return r.check(&q.StreamConfig)
	case "stream_restore":
		var q server.JSApiStreamRestoreRequest
		if err := decodeOnce(body, &q); err != nil {
			return err
		}
		return r.check(&q.Config)
	case "stream_snapshot":
		var q server.JSApiStreamSnapshotRequest
		if err := decodeOnce(body, &q); err != nil {
			return err
		}
		return r.says("the snapshot", q.DeliverSubject, false)
	case "consumer_create":
		var q server.CreateConsumerRequest
		if err := decodeOnce(body, &q); err != nil {
			return err
		}
		return r.says("the consumer", q.Config.DeliverSubject, byStreams)
	}
	return nil
}

// The NATS server compares each subject of a list with each other one: 4,900 filters of a consumer took it fifteen seconds.
// And it keeps what consumers are, which no quota counts.
const (
	jsListMax       = 256      // elements of each list in a checked request
	jsConsumerBytes = 16 << 10 // of a request for a consumer
)

// checkSize refuses a request whose parts would cost more than requests should.
func checkSize(kind *jsRequest, body []byte) error {
	if kind.answer == "consumer_create" && len(body) > jsConsumerBytes {
		return fmt.Errorf("the request for a consumer has %d bytes; want at most %d", len(body), jsConsumerBytes)
	}
	var lengths []int // of the open lists; -1 is an object
	for d := json.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.Token()
		if err != nil {
			return nil // the end, or what the reader of the request refuses
		}
		if n := len(lengths); n > 0 && lengths[n-1] >= 0 && token != json.Delim(']') {
			if lengths[n-1]++; lengths[n-1] > jsListMax {
				return fmt.Errorf("a list of the request has more than %d elements; want fewer, such as one subject with a wildcard", jsListMax)
			}
		}
		switch token {
		case json.Delim('['):
			lengths = append(lengths, 0)
		case json.Delim('{'):
			lengths = append(lengths, -1)
		case json.Delim(']'), json.Delim('}'):
			lengths = lengths[:len(lengths)-1]
		}
	}
}

func (r jsRule) says(who, subject string, byStreams bool) error {
	if err := r.checkDelivery(subject, byStreams); err != nil {
		return fmt.Errorf("%s would publish to %q, %w", who, apierr.Clip(subject), err)
	}
	return nil
}

func decodeOnce(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the request has more than one JSON value; want one")
	}
	return nil
}
