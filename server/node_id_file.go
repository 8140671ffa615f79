package server

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
)

func readIdentity(dir string) (identity, error) {
	path := filepath.Join(dir, identityFile)
	f, err := os.Open(path)
	if err != nil {
		return identity{}, fmt.Errorf("read who this data directory is: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, identityBytesMax+1))
	if err != nil {
		return identity{}, fmt.Errorf("read who this data directory is: %w", err)
	}
	id, err := decodeIdentity(text)
	if err != nil {
		return identity{}, fmt.Errorf("%s: %w", path, err)
	}
	id.dir = dir
	return id, nil
}

// decodeIdentity decodes the file's one line. It checks the version first, because the rest of a later version
// is unknown.
func decodeIdentity(text []byte) (identity, error) {
	if len(text) > identityBytesMax {
		return identity{}, fmt.Errorf("the file has more than %d bytes; restore it from a backup", identityBytesMax)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return identity{}, fmt.Errorf("the file is no JSON object; restore it from a backup: %w", err)
	}
	if head.Version != identityVersion && head.Version != identityVersion2 {
		return identity{}, fmt.Errorf("version %d: %w", head.Version, ErrIdentityVersion)
	}
	var id identity
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&id); err != nil {
		return identity{}, fmt.Errorf("the file is damaged; restore it from a backup: %w", err)
	}
	switch {
	case id.Version != head.Version: // a key in another case
		return identity{}, errors.New("the file is damaged: it has two versions; restore it from a backup")
	case !id.isWhole():
		return identity{}, fmt.Errorf("the file is damaged: version %d with the state %q, the id %q and %q to be given up; restore it from a backup", id.Version, id.State, id.ClusterID, id.GivesUp)
	case job.ValidateTenant(id.Node) != nil || job.ValidateTenant(id.Cluster) != nil:
		return identity{}, fmt.Errorf("the file is damaged: node %q of cluster %q are no names; restore it from a backup", id.Node, id.Cluster)
	case id.ClusterID != "" && !isClusterID(id.ClusterID):
		return identity{}, fmt.Errorf("the file is damaged: %q is no id of a cluster; restore it from a backup", id.ClusterID)
	}
	if id.State == stateMember && id.ClusterID == "" {
		id.State = stateNew // an older release wrote it before it had met the cluster
	}
	return id, nil
}

// isWhole reports whether version, state and ids are consistent.
func (id identity) isWhole() bool {
	met := id.ClusterID != ""
	switch id.State {
	case stateMember:
		return id.Version == identityVersion && id.GivesUp == ""
	case stateNew, stateWitnessNew, stateWitness:
		return id.Version == identityVersion2 && !met && id.GivesUp == ""
	case stateFounder:
		return id.Version == identityVersion2 && met && (id.GivesUp == "" || isClusterID(id.GivesUp))
	case stateDiscarding:
		return id.Version == identityVersion2 && met && id.GivesUp == ""
	}
	return false
}

func isClusterID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == clusterIDBytes && s == hex.EncodeToString(b)
}

// write replaces the file durably, and returns the identity as the file has it. A crash leaves the old file or
// the new one.
func (id identity) write() (identity, error) {
	if id.Version = identityVersion2; id.State == stateMember {
		id.Version = identityVersion
	}
	text, err := json.Marshal(id)
	if err == nil {
		err = replaceFile(id.dir, identityFile, append(text, '\n'))
	}
	if err != nil {
		return id, fmt.Errorf("keep who this data directory is: %w", err)
	}
	id.drawn = false
	return id, nil
}

// replaceFile writes a new file beside the one of that name and renames it to that name. Each step is synced
// before the next.
func replaceFile(dir, name string, text []byte) error {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
