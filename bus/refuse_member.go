package bus

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/replication"
)

// RefuseMember returns an error that is [ErrPrefixServed] if the embedded server of a process without a cluster would
// start on the directory of a cluster's member. That server, which would now be alone, would not show the log of the
// cluster that it keeps. Without such a log the result is nil. It reads the files of the stream, because no server may
// run on the directory yet. A stream whose owner cannot be read is an error too: to go on could fork the jobs of a
// cluster.
func RefuseMember(o Options) error {
	kept := streamDir(o.StoreDir, replication.StreamName(o.Prefix, 0))
	if _, err := os.Stat(kept); err != nil {
		return nil // there is no log; opening the directory reports other faults
	}
	text, err := os.ReadFile(filepath.Join(kept, "meta.inf"))
	var stream struct {
		Metadata map[string]string `json:"metadata"`
	}
	if err == nil {
		err = json.Unmarshal(text, &stream)
	}
	if err != nil {
		return fmt.Errorf("read whose stream is in %s: %w", kept, err)
	}
	return logIsThere(o, replication.ClusterOf(stream.Metadata), "remove the directory "+kept)
}
