package api

import "context"

// verb is one operation of the API.
type verb struct {
	name       string
	about      string
	request    any      // a value of the client's type, for the schema
	required   []string // members that a request must have
	either     []string // members of which a request must have one
	reply      any      // a value of the client's type, for the schema
	bulk       bool     // bounded separately from the others
	size       replySize
	reads      bool // changes nothing
	mayBeEmpty bool // an empty message means {}
	serve      serveFunc
}

// serveFunc carries out a request and returns the reply to be encoded.
type serveFunc func(x *Executor, ctx context.Context, tenant string, body []byte) (any, error)

// take returns a serveFunc that reads a request with the given members and passes it to a method.
func take[T any](members object[T], act func(*Executor, context.Context, string, *T) (any, error)) serveFunc {
	return func(x *Executor, ctx context.Context, tenant string, body []byte) (any, error) {
		var req T
		if err := read(body, func(r *reader) error { return members.read(r, &req) }); err != nil {
			return nil, err
		}
		x.noteAbout(ctx, &req)
		return act(x, ctx, tenant, &req)
	}
}
