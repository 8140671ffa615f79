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
	proven, err := readProven(dir)
	return err == nil && (proven == "" || proven == cluster), ignore(err, fs.ErrNotExist)
}

// readProven returns the cluster whose peers prove who they are; "" if the file is damaged or of a later version.
func readProven(dir string) (cluster string, err error) {
	text, err := smallfile.Read(filepath.Join(dir, ProvenName), provenBytesMax)
	if err != nil {
		return "", fmt.Errorf("read whether the peers prove who they are: %w", err)
	}
	var f provenFile
	if json.Unmarshal(text, &f) != nil || f.Version != provenVersion {
		return "", nil
	}
	return f.Cluster, nil
}

// checkProven returns an error if the file PROVEN is damaged, which a start takes for the fact. A start that proves who it is
// does not need the file, so one that cannot be read refuses none here.
func checkProven(dir string, r reader) error {
	cluster, err := readProven(dir)
	if !r.clustered || errors.Is(err, fs.ErrNotExist) || err == nil && cluster != "" {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%s: the file is damaged, and counts as one that says that the peers prove who they are", filepath.Join(dir, ProvenName))
	}
	return passedOver{err}
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
