package oidc

import (
	"context"
	"errors"
	"sync"
	"time"
)

// How long keys serve, and how often they are read.
const (
	refreshAfter = 10 * time.Minute // then they are read again in the background
	keysServe    = 24 * time.Hour   // while they cannot be read again
	askEvery     = 10 * time.Second // at most, whatever tokens come
)

// keyring keeps the keys of an issuer, and its addresses. Safe for concurrent use.
type keyring struct {
	read func(context.Context) (*addresses, []key, error)
	now  func() time.Time

	mu     sync.Mutex
	at     *addresses // nil: nothing was read yet
	keys   []key
	got    time.Time     // when they were read
	asked  time.Time     // when the issuer was asked last; zero: never
	asking chan struct{} // closed when the issuer has answered; nil: it is not being asked
	failed error         // of the last answer; nil if it was good
}

// find returns the keys that may have signed a token. If there is none, the issuer is asked once more, because it may
// have a new one.
func (r *keyring) find(ctx context.Context, s *signed) ([]key, error) {
	if keys := r.among(s); len(keys) > 0 {
		return keys, nil
	}
	err := r.refresh(ctx)
	if keys := r.among(s); len(keys) > 0 {
		return keys, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, Refusal("the issuer has no such key")
}

// anew returns the keys that may have signed a token which those known did not sign: the issuer may have replaced a key under
// its id. It asks the issuer as find does.
func (r *keyring) anew(ctx context.Context, s *signed) []key {
	_ = r.refresh(ctx) // without an answer, the known keys are the keys
	return r.among(s)
}

// among returns the known keys that may have signed a token. Old ones are read again meanwhile.
func (r *keyring) among(s *signed) (keys []key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := r.now().Sub(r.got)
	if r.at == nil || age > keysServe || age < -keysServe {
		return nil
	}
	if age > refreshAfter {
		r.askLocked()
	}
	for i := range r.keys {
		if r.keys[i].serves(s) {
			keys = append(keys, r.keys[i])
		}
	}
	return keys
}

// addresses returns where the issuer is.
func (r *keyring) addresses(ctx context.Context) (*addresses, error) {
	r.mu.Lock()
	at := r.at
	r.mu.Unlock()
	if at != nil {
		return at, nil
	}
	err := r.refresh(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil && err == nil {
		err = &UnavailableError{errors.New("it was asked just now")}
	}
	return r.at, err
}

// refresh asks the issuer, unless that was done just now, and waits for the answer until ctx ends.
func (r *keyring) refresh(ctx context.Context) error {
	r.mu.Lock()
	r.askLocked()
	asking := r.asking
	r.mu.Unlock()
	if asking != nil {
		select {
		case <-asking:
		case <-ctx.Done():
			return &UnavailableError{ctx.Err()}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// askLocked begins to ask the issuer, if it is not being asked and was not just now.
func (r *keyring) askLocked() {
	since := r.now().Sub(r.asked)
	if r.asking != nil || !r.asked.IsZero() && since >= 0 && since < askEvery {
		return
	}
	r.asking, r.asked = make(chan struct{}), r.now()
	go r.askNow()
}

// askNow reads addresses and keys. Both are kept together, and only if both are good. It is bounded by a time of its
// own, because several callers wait for it.
func (r *keyring) askNow() {
	ctx, cancel := context.WithTimeout(context.Background(), askMax)
	defer cancel()
	at, keys, err := r.read(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed = nil; err != nil {
		r.failed = &UnavailableError{err}
	} else {
		r.at, r.keys, r.got = at, keys, r.now()
	}
	close(r.asking)
	r.asking = nil
}
