package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/carillon-io/carillon/smallfile"
)

// ProvenName is the file of a directory whose node has met peers that prove who they are: one line of JSON with a version and
// the name of the cluster. It says that they do, and nothing of the password or the certificates. It is apart from NODE and
// MEMBERS, because older releases refuse fields that they do not know there; they pass over this file.
const ProvenName = "PROVEN"

// The format of the file, and the bound of its size.
const (
	provenVersion  = 1
	provenBytesMax = 4 << 10
)

// provenFile is the one line of the file.
type provenFile struct {
	Version int    `json:"version"`
	Cluster string `json:"cluster"`
}

// ReadProven reports whether the directory has met peers of a cluster that prove who they are. A file that is damaged or of a
// later version counts as one that says so: the remedy is to prove it, and never to be open. It takes no lock and writes
// nothing.
func ReadProven(dir, cluster string) (bool, error) {
	text, err := smallfile.Read(filepath.Join(dir, ProvenName), provenBytesMax)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read whether the peers prove who they are: %w", err)
	}
	var f provenFile
	if json.Unmarshal(text, &f) != nil || f.Version != provenVersion || f.Cluster == "" {
		return true, nil
	}
	return f.Cluster == cluster, nil
}

// KeepProven keeps that the directory has met peers of a cluster that prove who they are. It is durable when it returns, and
// changes nothing if it is repeated. The caller holds the lock of the directory.
func KeepProven(dir, cluster string) error {
	if known, err := ReadProven(dir, cluster); known || err != nil {
		return err
	}
	text, err := json.Marshal(provenFile{Version: provenVersion, Cluster: cluster})
	if err == nil {
		err = replaceFile(dir, ProvenName, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep that the peers prove who they are: %w", err)
	}
	return nil
}
