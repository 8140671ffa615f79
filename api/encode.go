package api

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
)

// encoding are the JSON options of replies. Equal replies have equal bytes. Invalid UTF-8, wherever it came from,
// must not make a job unreadable.
var encoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true), json.Deterministic(true))

// Encode encodes a value as replies are: equal values have equal bytes, and invalid UTF-8 is passed on. It has no
// bound, so it is for replies that are not sent in a message.
func Encode(value any) ([]byte, error) { return json.Marshal(value, encoding) }

// encode encodes a reply so that it fits into one message, and leaves out what can be asked for again. A reply that
// is already text is returned as it is. Each round halves a page that is too large, which costs at most twice the
// encoding of the largest one; estimating the size exactly would need a second encoder that agrees with the first.
// A reply that cannot be sent thus becomes an error that the caller receives; replies that are text already were
// bounded where they were written.
func (x *Executor) encode(reply any) ([]byte, error) {
	switch reply := reply.(type) {
	case jsontext.Value:
		return reply, nil
	case *jobText:
		return reply.text, nil
	}
	for {
		body, err := json.Marshal(reply, encoding)
		if err != nil {
			return nil, fmt.Errorf("encode reply: %w", err)
		}
		// A page has a bound of its own, because its room counts several times its size.
		most := x.replyBytesMax()
		if _, isPage := reply.(page); isPage {
			most = x.pageBytesMax()
		}
		if len(body) <= most {
			return body, nil
		}
		if !shrink(reply) {
			return nil, x.tooLarge(len(body))
		}
	}
}

// tooLarge returns the error for a reply that does not fit into a message. The text says that the request has been
// carried out, because a caller that takes the error for a refusal would repeat the change.
func (x *Executor) tooLarge(size int) error {
	return apierr.Errorf(apierr.TooLarge, "", "the reply has %d bytes, and NATS carries at most %d of them here (max_payload, less what the headers take); the request has been carried out", size, x.replyBytesMax())
}

// localReplyBytes bounds a reply that is not sent in a message. It exists only so that the code has one path: a
// caller in this process that asks for more has a mistake in its query.
const localReplyBytes = 64 << 20

// replyHeaderBytes is the part of the largest message that is reserved for the headers of a reply. NATS counts
// headers as part of a message, so a body of max_payload bytes would be refused by the connection when it is sent,
// after the request has taken effect.
const replyHeaderBytes = 512

// messageBytesMax returns the largest size of a message. It is read for each request, because a server may announce
// another max_payload after a reconnect.
func (x *Executor) messageBytesMax() int {
	if x.carrier == nil {
		return localReplyBytes
	}
	return int(x.carrier.MaxPayload())
}

// replyBytesMax returns the largest size of a reply's body. All bounds of replies derive from it, also over HTTP,
// so that a caller gets the same pages over either way.
func (x *Executor) replyBytesMax() int { return x.messageBytesMax() - replyHeaderBytes }

type pageBytesKey struct{}

// withPageBytes returns a context of a request whose pages end early: once they have an entry, they grow to no more
// than the given bytes; 0: as far as a message.
func withPageBytes(ctx context.Context, bytes int) context.Context {
	if bytes == 0 {
		return ctx
	}
	return context.WithValue(ctx, pageBytesKey{}, bytes)
}

// pageBytesFor returns to which size a page may grow that has an entry. Its first entry may be larger.
func (x *Executor) pageBytesFor(ctx context.Context) int {
	most := x.pageBytesMax()
	if bytes, ok := ctx.Value(pageBytesKey{}).(int); ok {
		return min(bytes, most)
	}
	return most
}

// pageBytesMax returns the largest size of a page. It is less than that of other replies if NATS carries large
// messages: a page reserves room for several times its size.
func (x *Executor) pageBytesMax() int {
	if x.carrier == nil {
		return x.replyBytesMax()
	}
	return min(x.replyBytesMax(), pageBytesMost)
}
