package transfer

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// gather returns the content that a source gives, or its error.
func gather(ctx context.Context, s *Source, file int, offset, size int64) (content []byte, err error) {
	for piece, err := range s.Pieces(ctx, file, offset, size) {
		if err != nil {
			return content, err
		}
		content = append(content, piece...)
	}
	return content, nil
}

// TestPieceIsRequestedAgain: a piece that does not arrive, or arrives with an impossible length, is requested again, after
// a pause, and a bounded number of times.
func TestPieceIsRequestedAgain(t *testing.T) {
	failure := errors.New("damaged")
	for _, tt := range []struct {
		name     string
		failures int
		spoil    func([]byte) ([]byte, error)
		want     string
	}{
		{"an error", 2, func([]byte) ([]byte, error) { return nil, failure }, ""},
		{"an empty piece", 2, func([]byte) ([]byte, error) { return nil, nil }, ""},
		{"a piece that is too long", 2, func(p []byte) ([]byte, error) { return append(p, "more than the file has"...), nil }, ""},
		{"too many errors", 3, func([]byte) ([]byte, error) { return nil, failure }, "damaged"},
		{"too many empty pieces", 3, func([]byte) ([]byte, error) { return nil, nil }, "a piece of 0 bytes arrived, and the file has 2 more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				s := &Source{Tries: 3, Pause: time.Second, Ask: func(_ context.Context, _ int, offset int64) ([]byte, error) {
					if offset < 10 {
						return []byte("0123456789")[offset:], nil
					}
					if asked++; asked <= tt.failures {
						return tt.spoil([]byte("ab"))
					}
					return []byte("ab"), nil
				}}
				began := time.Now()
				content, err := gather(t.Context(), s, 0, 4, 12)
				if took := time.Since(began); took != 2*time.Second || asked != 3 {
					t.Errorf("%d requests in %s", asked, took)
				}
				if tt.want == "" && (err != nil || string(content) != "456789ab") {
					t.Errorf("got %q, %v", content, err)
				}
				if tt.want != "" && (err == nil || err.Error() != tt.want) {
					t.Errorf("got %q, %v; want %s", content, err, tt.want)
				}
			})
		})
	}
}

// TestRequestsEndWithContext: when the context ends, no further request follows, and the pause is cut short.
func TestRequestsEndWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		asked := 0
		s := &Source{Tries: 100, Pause: time.Minute, Ask: func(context.Context, int, int64) ([]byte, error) {
			asked++
			return nil, fmt.Errorf("failure %d", asked)
		}}
		began := time.Now()
		_, err := gather(ctx, s, 0, 0, 10)
		if took := time.Since(began); took != 90*time.Second || asked != 2 || err == nil || err.Error() != "failure 2" {
			t.Errorf("%d requests in %s, %v", asked, took, err)
		}
	})
}
