package datadir

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/carillon-io/carillon/session"
)

// SessionKeyName is the file with the key of the sessions of a node alone: 64 hexadecimal digits and a line end. No backup
// has it. Who removes it ends all sessions at the next start.
const SessionKeyName = "SESSION-KEY"

// OpenSessionKey returns the key of the sessions that dir keeps, and draws one if there is none. A damaged one is replaced:
// the only loss is that readers of pages sign in again. The caller holds the lock of the directory.
func OpenSessionKey(dir string) ([]byte, error) {
	key, err := readSessionKey(dir)
	if err != nil || key != nil {
		return key, err
	}
	key = session.NewKey()
	if err := replaceFile(dir, SessionKeyName, []byte(hex.EncodeToString(key)+"\n")); err != nil {
		return nil, fmt.Errorf("keep the key of the sessions: %w", err)
	}
	return key, nil
}

// readSessionKey returns the key; nil if there is none, or if the file is damaged.
func readSessionKey(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, SessionKeyName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the key of the sessions: %w", err)
	}
	if key, err := hex.DecodeString(strings.TrimSpace(string(text))); err == nil && len(key) == session.KeyBytes {
		return key, nil
	}
	return nil, nil
}

// checkSessionKey returns an error if the file SESSION-KEY is damaged, which a start of a node alone draws anew, or cannot be
// read, which refuses only a start with rights.
func checkSessionKey(dir string, r reader) error {
	path := filepath.Join(dir, SessionKeyName)
	key, err := readSessionKey(dir)
	if r.clustered || key != nil || !exists(path) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%s: the file is damaged; the next start with rights draws a new key, and readers of pages sign in again", path)
	}
	return passedOver{err}
}
