package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/smallfile"
)

const (
	// contextBytesMax bounds the file of a context: some paths, and a token.
	contextBytesMax = 64 << 10
	// contextNameMax bounds the name of a context, in bytes.
	contextNameMax = 64
)

// configHome returns the directory in which a user's programs keep their settings.
func configHome() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("contexts: %w", err)
	}
	return filepath.Join(home, ".config"), nil
}

// contextDir returns the directory with the contexts of 'carillon login': a file for each, and above them the file
// "current" with the name of the one in use.
func contextDir() (string, error) {
	home, err := configHome()
	return filepath.Join(home, "carillon", "context"), err
}

// contextPath returns the file of a context. The name must be a single element of a path, so that it names no other
// file.
func contextPath(name string) (string, error) {
	if !isContextName(name) {
		return "", usagef("%q is no name of a context; want 1 to %d letters, digits and . _ -, and no . at the beginning", clip(name), contextNameMax)
	}
	dir, err := contextDir()
	return filepath.Join(dir, name+".json"), err
}

// isContextName reports whether a context may have a name.
func isContextName(name string) bool {
	return name != "" && len(name) <= contextNameMax && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
}

// readContext reads a context of 'carillon login'. Its error wraps [fs.ErrNotExist] if there is none with the name. It
// refuses a file that other users of the machine can read or change, because it may contain a token. No error contains
// a part of the file. What is wrong with a context is bad usage, as with each file that an option names.
func readContext(name string) (*endpoint, error) {
	path, err := contextPath(name)
	if err != nil {
		return nil, err
	}
	e := new(endpoint)
	text, err := readOwn(path)
	if err == nil {
		err = json.Unmarshal(text, e, json.RejectUnknownMembers(true))
		if err != nil {
			err = fmt.Errorf("it is no context: %w", plainJSONError(err))
		}
	}
	if err == nil {
		err = e.check()
	}
	if err != nil {
		return nil, usagef("context %s: %s: %w", name, path, err)
	}
	return e, nil
}

// plainJSONError returns an error that names the place in a file and not what stands there.
func plainJSONError(err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("the JSON is broken at byte %d", e.ByteOffset)
	}
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return fmt.Errorf("the member at byte %d is unknown or has a wrong type", e.ByteOffset)
	}
	return errors.New("the JSON is broken")
}

// check refuses a context that was not written by 'carillon login'.
func (e *endpoint) check() error {
	switch {
	case e.Server == "":
		return errors.New("it has no server; log in again")
	case (e.TLSCert == "") != (e.TLSKey == ""):
		return errors.New("tls_cert and tls_key go together; log in again")
	case e.Token != "":
		return client.CheckToken(e.Token)
	}
	return nil
}

// readOwn reads a small file that only the user may read, in a directory in which only the user may write: in another,
// anybody could put a context of theirs in its place, with a server that is told the next token.
func readOwn(path string) ([]byte, error) {
	text, err := smallfile.Read(path, contextBytesMax, smallfile.ForOwnerAlone)
	if err != nil {
		return nil, plainPathError(err)
	}
	dir := filepath.Dir(path)
	about, err := os.Stat(dir)
	if err == nil {
		err = smallfile.WrittenByOwnerAlone(about)
	}
	if err != nil {
		return nil, fmt.Errorf("its directory %s: %w", dir, plainPathError(err))
	}
	return text, nil
}

// plainPathError returns the cause without the path, which the caller names.
func plainPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// writeContext saves a context. The file appears complete, and only the user can read it.
func writeContext(name string, e *endpoint) error {
	path, err := contextPath(name)
	if err != nil {
		return err
	}
	text, err := json.Marshal(e, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return writeOwn(path, append(text, '\n'))
}

// writeOwn writes a small file that only the user may read, in directories that only the user may enter.
func writeOwn(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return writeWhole(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// currentPath returns the file with the name of the current context.
func currentPath() (string, error) {
	home, err := configHome()
	return filepath.Join(home, "carillon", "current"), err
}

// currentContext returns the name of the current context; "" if there is none.
func currentContext() (string, error) {
	path, err := currentPath()
	if err != nil {
		return "", nil // without a home there are no contexts
	}
	text, err := smallfile.Read(path, contextNameMax+2, smallfile.WrittenByOwnerAlone)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	name := strings.TrimSpace(string(text))
	if err == nil && !isContextName(name) {
		err = errors.New("it does not have the name of a context")
	}
	if err != nil {
		return "", usagef("current context: %s: %w; choose one with 'carillon context use NAME'", path, plainPathError(err))
	}
	return name, nil
}

// setCurrent makes a context the current one; "": none.
func setCurrent(name string) error {
	path, err := currentPath()
	if err != nil {
		return err
	}
	if name != "" {
		return writeOwn(path, []byte(name+"\n"))
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// savedContexts returns the names of the contexts of 'carillon login', sorted.
func savedContexts() (names []string) {
	dir, err := contextDir()
	if err != nil {
		return nil
	}
	files, _ := os.ReadDir(dir) // a directory that cannot be read has no contexts for this user
	for _, file := range files {
		if name, found := strings.CutSuffix(file.Name(), ".json"); found && isContextName(name) {
			names = append(names, name)
		}
	}
	return names
}

// errNoContext returns the error for a name that no context of 'carillon login' has.
func errNoContext(name string) error {
	return usagef("there is no context %s; %s", clip(name), apierr.Advice(name, savedContexts(), "'carillon login' makes one"))
}

// contextNamed returns the context of a name: that of 'carillon login', or else that of the nats command.
func contextNamed(name string) (*endpoint, error) {
	if isContextName(name) {
		if saved, err := readContext(name); !errors.Is(err, fs.ErrNotExist) {
			return saved, err
		}
	}
	c, err := readNATSContext(name)
	if errors.Is(err, fs.ErrNotExist) {
		all := savedContexts()
		for _, one := range contextNames() {
			all = append(all, one.value)
		}
		return nil, usagef("there is no context %s: neither one of 'carillon login' nor one of the nats command; %s", clip(name), apierr.Advice(name, all, "'carillon login' makes one"))
	}
	if err != nil {
		return nil, err
	}
	return &endpoint{nats: c}, nil
}
