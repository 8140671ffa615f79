package datadir

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
)

// ReadIdentity reads the file NODE of a data directory. It returns an error that is [fs.ErrNotExist] if there is none,
// one that is [ErrIdentityVersion] for another format, and otherwise an error that names the file. It takes no lock
// and writes nothing.
func ReadIdentity(dir string) (Identity, error) {
	path := filepath.Join(dir, NodeName)
	f, err := os.Open(path)
	if err != nil {
		return Identity{}, fmt.Errorf("read who this data directory is: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, identityBytesMax+1))
	if err != nil {
		return Identity{}, fmt.Errorf("read who this data directory is: %w", err)
	}
	id, err := decodeIdentity(text)
	if err != nil {
		return Identity{}, fmt.Errorf("%s: %w", path, err)
	}
	id.dir = dir
	return id, nil
}

// checkNode returns an error if the file NODE cannot be read.
func checkNode(dir string, _ reader) error {
	_, err := ReadIdentity(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// identityRemedy ends the messages about a damaged file. The file has nothing that the other nodes do not know, so a copy of it is
// not the only way.
const identityRemedy = "; restore the file from a copy of this directory, or, if the other nodes of its cluster are up, put the directory aside and start with an empty one and the old name (--node)"

// decodeIdentity decodes the file's one line. It checks the version first, because the rest of a later version is
// unknown. Unknown fields are an error, because a field of this version that is misspelt would count as missing, and a
// missing id makes a member look new.
func decodeIdentity(text []byte) (Identity, error) {
	if len(text) > identityBytesMax {
		return Identity{}, fmt.Errorf("the file has more than %d bytes%s", identityBytesMax, identityRemedy)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Identity{}, fmt.Errorf("the file is no JSON object%s: %w", identityRemedy, err)
	}
	if head.Version < identityVersion || head.Version > identityVersion3 {
		return Identity{}, fmt.Errorf("version %d: %w", head.Version, ErrIdentityVersion)
	}
	var id Identity
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&id); err != nil {
		return Identity{}, fmt.Errorf("the file is damaged%s: %w", identityRemedy, err)
	}
	switch {
	case id.Version != head.Version: // a key in another case
		return Identity{}, errors.New("the file is damaged: it has two versions" + identityRemedy)
	case !id.isWhole():
		return Identity{}, fmt.Errorf("the file is damaged: version %d with the state %q, the id %q and %q to be given up%s", id.Version, id.State, id.ClusterID, id.GivesUp, identityRemedy)
	case job.ValidateTenant(id.Node) != nil || job.ValidateTenant(id.Cluster) != nil:
		return Identity{}, fmt.Errorf("the file is damaged: node %q of cluster %q are no names%s", id.Node, id.Cluster, identityRemedy)
	case id.ClusterID != "" && !isClusterID(id.ClusterID):
		return Identity{}, fmt.Errorf("the file is damaged: %q is no id of a cluster%s", id.ClusterID, identityRemedy)
	}
	if id.State == StateMember && id.ClusterID == "" {
		id.State = StateNew // an older release wrote it before it had met the cluster
	}
	return id, nil
}

// isWhole reports whether version, state and ids are consistent. The table is the format: what it rejects, no release
// has written. Since the file decides whether data may be replaced or led, a doubtful one is refused rather than
// interpreted.
func (id Identity) isWhole() bool {
	met := id.ClusterID != ""
	switch id.State {
	case StateMember:
		return id.Version == identityVersion && id.GivesUp == "" && !id.tellsMore()
	case StateNew, StateWitnessNew, StateWitness:
		return id.Version == identityVersion2 && !met && id.GivesUp == "" && !id.tellsMore()
	case StateFounder:
		fits := id.Version == identityVersion2 && !id.tellsMore() || id.Version == identityVersion3 && id.tellsMore()
		return fits && met && (id.GivesUp == "" && id.Loses == 0 || isClusterID(id.GivesUp)) && (id.DividedEpoch == 0 || id.DividedLSN > 0)
	case StateDiscarding:
		return id.Version == identityVersion2 && met && id.GivesUp == "" && !id.tellsMore()
	}
	return false
}

// tellsMore reports whether the identity has what version 3 adds.
func (id Identity) tellsMore() bool {
	return id.Loses != 0 || id.DividedLSN != 0 || id.DividedEpoch != 0
}

// founds is what only a founder's identity has.
func (id *Identity) founds(givesUp string, loses uint64, divided job.Position) {
	id.GivesUp, id.Loses, id.DividedLSN, id.DividedEpoch = givesUp, loses, divided.LSN, divided.Epoch
}

// Only the canonical text counts, with lower-case digits, so that ids can be compared as strings.
func isClusterID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == clusterIDBytes && s == hex.EncodeToString(b)
}

// write replaces the file durably, and returns the identity as the file has it. A crash leaves the old file or the new
// one. A member is written as version 1, which older releases can read, so that a node can be downgraded.
func (id Identity) write() (Identity, error) {
	id.Version = identityVersion2
	switch {
	case id.State == StateMember:
		id.Version = identityVersion
	case id.tellsMore():
		id.Version = identityVersion3
	}
	text, err := json.Marshal(id)
	if err == nil {
		err = replaceFile(id.dir, NodeName, append(text, '\n'))
	}
	if err != nil {
		return id, fmt.Errorf("keep who this data directory is: %w", err)
	}
	id.drawn = false
	return id, nil
}
