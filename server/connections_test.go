package server

import "testing"

// TestConnectionsByFiles: callers get their share of the files, few or many, and leave the others theirs.
func TestConnectionsByFiles(t *testing.T) {
	for _, c := range []struct{ files, http, nats int }{
		{40, 16, 16}, {256, 64, 64}, {1024, 256, 256}, {20_000, 5_000, 5_000}, {65_536, 10_000, 16_384}, {filesCounted, 10_000, 65_536},
	} {
		if http, nats := httpConnectionsDefault(c.files), natsConnections(c.files); http != c.http || nats != c.nats {
			t.Errorf("of %d files HTTP gets %d and NATS %d; want %d and %d", c.files, http, nats, c.http, c.nats)
		}
		if err := validateHTTPConnections(httpConnectionsDefault(c.files), c.files); err != nil {
			t.Errorf("the default is refused: %v", err)
		}
	}
	for n, ok := range map[int]bool{15: false, 16: true, 500: true, 501: false, -1: false} {
		if err := validateHTTPConnections(n, 1000); (err == nil) != ok {
			t.Errorf("%d connections with 1000 files: %v", n, err)
		}
	}
	if n := filesMax(); n < 64 {
		t.Errorf("this process may open %d files", n)
	}
}
