package web

import "github.com/carillon-io/carillon/apierr"

// places bound the requests whose bodies are read at a time. The capacity is the bound. Safe for concurrent use. A
// refused request costs nothing: its body is not read. A gate of the executor cannot do this, because it is asked
// when the request has been read; a body that arrives slowly would hold no place while it fills memory.
type places chan struct{}

// take takes a place, or refuses the request. It never blocks.
func (p places) take() error {
	select {
	case p <- struct{}{}:
		return nil
	default:
		return apierr.Errorf(apierr.RateLimited, "", "%d requests of this kind are under way, which is the limit; ask again later", cap(p))
	}
}

// free frees a place.
func (p places) free() { <-p }
