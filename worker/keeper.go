package worker

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// keeper has the rules of an allow file, and reads them again when a file has changed. Safe for concurrent use.
type keeper struct {
	path   string
	logger *slog.Logger

	mu    sync.Mutex
	rules *Rules
	seen  string // state of the files that rules were read from, or that could not be read
}

// openKeeper reads the rules for the first time.
func openKeeper(path string, logger *slog.Logger) (*keeper, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	k := &keeper{path: path, logger: logger}
	if k.rules, err = ReadRules(path); err != nil {
		return nil, err
	}
	k.seen = state(k.rules)
	return k, nil
}

// now returns the present rules. Files that are broken leave the old ones in force, and the log says so once.
func (k *keeper) now() *Rules {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := state(k.rules)
	if at == k.seen {
		return k.rules
	}
	k.seen = at
	rules, err := ReadRules(k.path)
	if err != nil {
		k.logger.Error("the allow file is not taken, and the rules before stay in force", slog.Any("error", err))
		return k.rules
	}
	k.rules, k.seen = rules, state(rules)
	k.logger.Info("the allow file was read again", slog.Int("commands", rules.Len()))
	return rules
}

// state returns a text that differs if a file of the rules, or what a pattern matches, has changed.
func state(r *Rules) string {
	var b strings.Builder
	for _, path := range append(r.matching(), r.path) {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(&b, "%s: %v\n", path, err)
			continue
		}
		fmt.Fprintf(&b, "%s %d %d %v\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
	}
	return b.String()
}
