package datadir

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The file that identifies the installation of a node alone, and its format: one line of JSON.
const (
	installationVersion  = 1
	installationBytesMax = 4 << 10
)

// installation distinguishes the data of one installation from that of every other: the ids of what it publishes begin
// with it. A new directory draws one, and so does a directory into which a backup was restored, because a backup has
// none. Without a cluster there is no id of a cluster that could serve as that prefix. Receivers discard repeated
// messages by their ids, so two installations with one id would hide each other's messages.
type installation struct {
	Version int    `json:"version"`
	ID      string `json:"id"` // 32 hex digits
}

// OpenInstallation returns the id of the installation whose data dir holds, and draws one if there is none. The caller
// holds the lock of the directory. The id must not change while the directory lives: messages that are published again
// after a crash would have other ids, and receivers would take them for new ones.
func OpenInstallation(dir string) (string, error) {
	path := filepath.Join(dir, InstallationName)
	text, err := readInstallation(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newInstallation(dir)
	}
	if err != nil {
		return "", fmt.Errorf("read which installation this data directory is: %w", err)
	}
	id, err := decodeInstallation(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return id, nil
}

// checkInstallation returns an error if the id of a directory cannot be read, as OpenInstallation would later. It
// draws none. The start calls it early, when the directory can still be refused; the id itself is drawn late, once the
// start has succeeded that far. A node of a cluster does not read the file.
func checkInstallation(dir string, r reader) error {
	if r.clustered || !isAlone(dir) || !hasInstallation(dir) {
		return nil
	}
	_, err := OpenInstallation(dir)
	return err
}

// drawID draws an id of an installation or of a cluster.
func drawID() string {
	raw := make([]byte, clusterIDBytes)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// newInstallation draws an id, which is durable when the function returns.
func newInstallation(dir string) (string, error) {
	i := installation{Version: installationVersion, ID: drawID()}
	text, err := json.Marshal(i)
	if err == nil {
		err = replaceFile(dir, InstallationName, append(text, '\n'))
	}
	if err != nil {
		return "", fmt.Errorf("keep which installation this data directory is: %w", err)
	}
	return i.ID, nil
}

// readInstallation reads the file, unless it is longer than it can be.
func readInstallation(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > installationBytesMax {
		return nil, fmt.Errorf("%s has %d bytes; want at most %d", path, info.Size(), installationBytesMax)
	}
	return os.ReadFile(path)
}

// decodeInstallation decodes the file's one line. It checks the version first, because the rest of a later
// version is unknown.
func decodeInstallation(text []byte) (string, error) {
	const remedy = "restore the file, or remove it: the next start draws a new id"
	var i installation
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&i); err != nil {
		return "", fmt.Errorf("the file is no JSON object; %s: %w", remedy, err)
	}
	switch {
	case i.Version != installationVersion:
		return "", fmt.Errorf("the file has version %d, and this carillon knows %d; run the carillon that wrote it, or a later one", i.Version, installationVersion)
	case !isClusterID(i.ID):
		return "", fmt.Errorf("the file is damaged: %q is no id of %d hex digits; %s", i.ID, hex.EncodedLen(clusterIDBytes), remedy)
	}
	return i.ID, nil
}

// hasInstallation reports whether a data directory has an installation's id: then it has been in use. The file is made
// when both parts exist, so it can stand for PARTS as the evidence that they did.
func hasInstallation(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, InstallationName))
	return err == nil
}
