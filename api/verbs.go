package api

import "context"

// verb is one operation of the API.
type verb struct {
	name       string
	about      string
	request    any      // of the type that a client sends; for the schema
	required   []string // members that a request must have
	either     []string // members of which a request must have one
	reply      any      // of the type that a client reads; for the schema
	bulk       bool     // bounded apart from the others
	size       replySize
	mayBeEmpty bool // an empty message stands for {}
	serve      serveFunc
}

// serveFunc carries a request out and returns the reply to be encoded.
type serveFunc func(s *Service, ctx context.Context, tenant string, body []byte) (any, error)

// take makes a serveFunc of a method that works on a request with the given members.
func take[T any](members object[T], act func(*Service, context.Context, string, *T) (any, error)) serveFunc {
	return func(s *Service, ctx context.Context, tenant string, body []byte) (any, error) {
		var req T
		if err := read(body, func(r *reader) error { return members.read(r, &req) }); err != nil {
			return nil, err
		}
		s.noteAbout(ctx, &req)
		return act(s, ctx, tenant, &req)
	}
}
