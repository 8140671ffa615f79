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

// streamRule says which streams a tenant may have in its account. A stream receives all that is published on its subjects,
// whatever the rights of who made it, and acknowledges it in the place of whoever is asked there. So the subjects of
// requests, their replies, and those of NATS itself are none of them.
type streamRule struct {
	prefix  string
	inboxes *inbox.Rule
}

// check refuses a stream with a subject on which somebody else is asked or answered, and one that publishes there. The
// error says what would be right.
func (r streamRule) check(c *server.StreamConfig) error {
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
		if source != nil && source.External != nil {
			return errors.New("the stream would be filled through external subjects, and there are none from this account to another; leave external out")
		}
	}
	return nil
}

// The families of subjects of NATS that are a tenant's own.
var ownFamilies = []string{"$KV.", "$O.", "$JS.EVENT."}

// checkSubject refuses a pattern of subjects that a tenant's stream must not receive. The text continues the pattern.
func (r streamRule) checkSubject(pattern string) error {
	switch first, _, _ := strings.Cut(pattern, "."); {
	case strings.ContainsAny(first, "*>"):
		return errors.New("which includes requests and their replies; want a pattern whose first token is a word, such as work.>")
	case r.isNotice(pattern):
		return nil
	}
	return r.checkReserved(pattern)
}

// checkTarget refuses a destination to which a tenant's stream must not publish. The text continues the destination.
func (r streamRule) checkTarget(destination string) error {
	pattern := asPattern(destination)
	if strings.HasPrefix(pattern, "*") || strings.HasPrefix(pattern, ">") {
		return errors.New("which includes requests and their replies; want a subject whose first token is a word, such as copies.>")
	}
	return r.checkReserved(pattern)
}

func (r streamRule) checkReserved(pattern string) error {
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
func (r streamRule) isNotice(pattern string) bool {
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

// streamOf reads the stream that a request makes or changes, as the NATS server does; nil if the verb has none. A body that
// two readers could understand differently is refused.
func streamOf(verb string, body []byte) (*server.StreamConfig, error) {
	switch verb {
	case "CREATE", "UPDATE":
		var q server.StreamConfigRequest
		return &q.StreamConfig, decodeOnce(body, &q)
	case "RESTORE":
		var q server.JSApiStreamRestoreRequest
		return &q.Config, decodeOnce(body, &q)
	}
	return nil, nil
}

func decodeOnce(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("the request is no JSON of a stream: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the request has more than one JSON value; want one")
	}
	return nil
}
