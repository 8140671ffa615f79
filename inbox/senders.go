package inbox

import (
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
)

// sender is what Carillon reads of the header [SenderHeader].
type sender struct {
	Account string `json:"acc"`
	User    string `json:"user"`
}

// sendersMax and senderBytesMax bound what a desk keeps of senders: 256 KiB of texts.
const (
	sendersMax     = 256
	senderBytesMax = 1024
)

// senders keeps the headers that were read last. The server of NATS writes the same text for each request of a
// connection, until it measures the round trip anew, so most requests need no decoding. The zero value is ready, and a nil
// one keeps nothing. Safe for concurrent use.
type senders struct {
	mu    sync.RWMutex
	known map[string]sender // by the text of the header
}

// read decodes the text of a header, or returns what it decoded before.
func (r *senders) read(text string) (who sender, err error) {
	if r != nil {
		r.mu.RLock()
		who, isKnown := r.known[text]
		r.mu.RUnlock()
		if isKnown {
			return who, nil
		}
	}
	if err = json.Unmarshal([]byte(text), &who); err != nil {
		return sender{}, fmt.Errorf("the header %s of the request cannot be read", SenderHeader)
	}
	if r != nil && len(text) <= senderBytesMax {
		r.keep(text, who)
	}
	return who, nil
}

// keep adds a text. It forgets all others when there are too many: they come back with the next requests.
func (r *senders) keep(text string, who sender) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= sendersMax {
		r.known = make(map[string]sender, sendersMax/16)
	}
	r.known[text] = who
}
