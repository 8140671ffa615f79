package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/natsfile"
	"github.com/carillon-io/carillon/serverurl"
	"github.com/carillon-io/carillon/smallfile"
)

// natsContextBytesMax bounds the file of a context. A context has some hundred bytes; the bound is for a path that
// is something else.
const natsContextBytesMax = 1 << 20

// natsContext is a context of the nats command, as far as it is supported: the addresses of the servers and the
// credentials. A setting that is neither supported nor known to be harmless is an error: to ignore one that concerns
// security would connect in another way than its owner configured.
type natsContext struct {
	URL      string `json:"url"`
	User     string `json:"user"`
	Password string `json:"password"`
	Token    string `json:"token"`
	Creds    string `json:"creds"`
	NKey     string `json:"nkey"`
	Cert     string `json:"cert"`
	Key      string `json:"key"`
	CA       string `json:"ca"`
	// TLSFirst begins TLS before the greeting of the server.
	TLSFirst    bool   `json:"tls_first"`
	InboxPrefix string `json:"inbox_prefix"`

	// Others has the settings that this type does not name.
	Others map[string]jsontext.Value `json:",embed"`
}

// natsContextNeutral are settings that are ignored: they matter only to commands that show the context or use
// JetStream. A setting of a later nats command is not among them and is therefore refused.
var natsContextNeutral = []string{
	"description", "color_scheme", "jetstream_domain", "jetstream_api_prefix", "jetstream_event_prefix",
}

// natsContextPath returns the file in which the nats command keeps a context. A name must be a single element of a
// path, so that --context cannot read other files.
func natsContextPath(name string) (string, error) {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return "", usagef("--context: %q is no name of a context; 'carillon context list' and 'nats context ls' list them", clip(name))
	}
	dir, err := configHome()
	return filepath.Join(dir, "nats", "context", name+".json"), err
}

// readNATSContext reads a context. Its error wraps [fs.ErrNotExist] if there is none with the name. It refuses a
// context with a setting that is neither supported nor ignored.
func readNATSContext(name string) (*natsContext, error) {
	path, err := natsContextPath(name)
	if err != nil {
		return nil, err
	}
	text, err := smallfile.Read(path, natsContextBytesMax)
	c := new(natsContext)
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, usagef("context %s: %s: %w", name, path, plainPathError(err))
	}
	// The nats command writes such paths as they were typed.
	for _, file := range []*string{&c.Creds, &c.NKey, &c.Cert, &c.Key, &c.CA} {
		*file = expandHome(*file)
	}
	return c, nil
}

// check returns an error that names the settings that are set and not supported, or that cannot be used.
func (c *natsContext) check() error {
	var unsupported []string
	for _, key := range slices.Sorted(maps.Keys(c.Others)) {
		if !slices.Contains(natsContextNeutral, key) && !isNothing(c.Others[key]) {
			unsupported = append(unsupported, key)
		}
	}
	if len(unsupported) > 0 {
		return fmt.Errorf("%s is not supported; use --server with --creds or --tls-cert instead, or another context", strings.Join(unsupported, ", "))
	}
	if _, err := serverurl.ParseList(c.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if (c.Cert == "") != (c.Key == "") {
		return errors.New("cert and key go together")
	}
	return nil
}

// isNothing reports whether the value of a setting means "not set". The nats command writes all of its settings,
// most of them empty.
func isNothing(value jsontext.Value) bool {
	return slices.Contains([]string{`""`, "false", "null", "0", "[]", "{}"}, value.String())
}

// expandHome replaces a ~ at the beginning of a path by the home directory.
func expandHome(path string) string {
	rest, found := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if !found || err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// options returns the options of a connection to the servers of the context. Several credentials may be set; the NATS
// library decides which one it uses.
func (c *natsContext) options() (options []nats.Option) {
	if c.User != "" {
		options = append(options, nats.UserInfo(c.User, c.Password))
	}
	if c.Token != "" {
		options = append(options, nats.Token(c.Token))
	}
	if c.Creds != "" {
		options = append(options, natsfile.Creds(c.Creds))
	}
	if c.NKey != "" {
		options = append(options, natsfile.NKey(c.NKey))
	}
	options = append(options, natsfile.TLS(c.CA, c.Cert, c.Key))
	if c.TLSFirst {
		options = append(options, nats.TLSHandshakeFirst())
	}
	if c.InboxPrefix != "" {
		options = append(options, nats.CustomInboxPrefix(c.InboxPrefix))
	}
	return options
}
