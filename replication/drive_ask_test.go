package replication

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
)

// TestPlacesThatAreNotWritten: an operator learns of a bucket that does not answer, and of places that changed meanwhile, that
// the request may be sent again; a refusal stays what it is.
func TestPlacesThatAreNotWritten(t *testing.T) {
	for _, c := range []struct {
		err  error
		code apierr.Code
		says string
	}{
		{fmt.Errorf("replication: write whether node b drains: %w", context.DeadlineExceeded), apierr.Unavailable, "whether the request took effect is unknown; ask again"},
		{fmt.Errorf("write: %w", errLost), apierr.Unavailable, "the places have changed meanwhile; ask again"},
		{refused("node", fmt.Errorf("there is no node %q", "x")), apierr.InvalidField, `there is no node "x"`},
	} {
		got := apierr.From(notWritten(c.err))
		if got.Code != c.code || !strings.Contains(got.Message, c.says) {
			t.Errorf("%v: %s, %s; want %s, and %q", c.err, got.Code, got.Message, c.code, c.says)
		}
	}
	if err := notWritten(nil); err != nil {
		t.Error(err)
	}
}
