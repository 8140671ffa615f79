package server

import "testing"

// TestConnectionsByFiles: callers get their share of the files, few or many, and leave the others theirs.
func TestConnectionsByFiles(t *testing.T) {
	for _, c := range []struct{ files, http, nats, targets, tables int }{
		{40, 16, 16, 16, 64}, {256, 64, 64, 48, 64}, {1024, 256, 256, 192, 64}, {20_000, 5_000, 5_000, 4_872, 625},
		{65_536, 10_000, 16_384, 16_384, 1000}, {filesCounted, 10_000, 65_536, 16_384, 1000},
	} {
		http, nats, targets := httpConnectionsDefault(c.files), natsConnections(c.files), targetConnections(c.files, httpConnectionsDefault(c.files))
		if http != c.http || nats != c.nats || targets != c.targets {
			t.Errorf("of %d files HTTP gets %d, NATS %d and targets %d; want %d, %d and %d", c.files, http, nats, targets, c.http, c.nats, c.targets)
		}
		if got := openTables(c.files); got != c.tables {
			t.Errorf("of %d files tables get %d, want %d", c.files, got, c.tables)
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
	for _, files := range []int{256, 1024, 65_536} { // callers have the most that the options allow
		http := files / 2
		if rest := files - http - httpLine(files) - natsConnections(files) - targetConnections(files, http); rest < files/16 {
			t.Errorf("of %d files the log and the store have %d", files, rest)
		}
	}
	if n := filesMax(); n < 64 {
		t.Errorf("this process may open %d files", n)
	}
}
