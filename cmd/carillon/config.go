package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/smallfile"
)

// configBytesMax bounds a config file. Far above any real one: it keeps a wrong path, such as that of a log, from
// being read whole.
const configBytesMax = 1 << 20

// configFile is the flag that names a config file: one JSON object whose keys are the flags of serve, in snake_case. A
// flag wins over the environment, the environment over the file, the file over the default. A key that is no flag is
// an error, so that a typo never silently leaves a default. Package server knows neither flags nor files, so an
// embedded program is not affected by one that lies about.
type configFile string

// BeforeResolve reads the file and adds its settings as values of flags that were not given. The parser calls it for
// every command that has the flag if the flag or its variable is set; it does nothing unless that is the command to be
// run: serve, or ready, which takes from the file what it needs. The settings are given as texts, so that a value in the
// file is parsed and checked by the same code as one on the command line.
func (c configFile) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	command := ctx.Selected()
	if command == nil || !slices.Contains(command.Flags, trace.Flag) {
		return nil
	}
	path, _ := ctx.FlagValue(trace.Flag).(configFile)
	settings, err := readConfig(string(path), flagsOfServe(ctx.Model.Node), command.Flags)
	if err != nil {
		return fmt.Errorf("config file %s: %w", path, plainPathError(err))
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		text, ok := settings[configKey(flag)]
		if !ok || slices.ContainsFunc(flag.Envs, isSet) {
			return nil, nil
		}
		return text, nil
	}))
	return nil
}

// isSet reports whether an environment variable is set, perhaps to "". An empty variable counts, because it overrules
// the file on purpose.
func isSet(variable string) bool {
	_, ok := os.LookupEnv(variable)
	return ok
}

// configKey returns the key of a flag in a config file. Keys have underscores because they are those of JSON; a
// hyphen in a key is refused as unknown.
func configKey(flag *kong.Flag) string { return strings.ReplaceAll(flag.Name, "-", "_") }

// flagsOfServe returns the flags that a config file may set.
func flagsOfServe(root *kong.Node) []*kong.Flag {
	for _, child := range root.Children {
		if child.Name == "serve" {
			return child.Flags
		}
	}
	return nil
}

// readConfig returns the settings of a file by key, each as the text that would follow its flag of serve. It reads the
// whole file before any flag is set, so that a bad key leaves nothing half configured. It refuses a file with a secret
// that one of the taken flags gets, if other users can read or change the file.
func readConfig(path string, flags, taken []*kong.Flag) (map[string]string, error) {
	var about fs.FileInfo
	text, err := smallfile.Read(path, configBytesMax, func(of fs.FileInfo) error { about = of; return nil })
	if err != nil {
		return nil, err
	}
	settings, err := parseConfig(text, flags)
	if err != nil {
		return nil, err
	}
	for _, flag := range taken {
		if key := configKey(flag); secretKind(flag.Tag.Get("secret")).isIn(settings[key]) {
			if err := smallfile.CheckSecret(path, about); err != nil {
				return nil, fmt.Errorf("it has a secret, %s, and %w", key, err)
			}
		}
	}
	return settings, nil
}

// parseConfig returns the settings of a text by key.
func parseConfig(text []byte, flags []*kong.Flag) (map[string]string, error) {
	var raw map[string]jsontext.Value
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("want one JSON object: %w", err)
	}
	settings := make(map[string]string, len(raw))
	for key, value := range raw {
		err := checkConfigKey(key, flags)
		if err != nil {
			return nil, err
		}
		if settings[key], err = configText(value); err != nil {
			return nil, fmt.Errorf("key %q: %w", key, err)
		}
	}
	return settings, nil
}

// checkConfigKey refuses a key that is no flag of serve, and names the keys that are.
func checkConfigKey(key string, flags []*kong.Flag) error {
	var known []string
	for _, flag := range flags {
		if flag.Name == "config" || flag.Name == "help" {
			continue
		}
		if configKey(flag) == key {
			return nil
		}
		known = append(known, configKey(flag))
	}
	slices.Sort(known)
	return fmt.Errorf("key %q is unknown; want one of %s", key, strings.Join(known, ", "))
}

// configText returns a scalar as the text that would follow its flag. Lists and objects are refused: a flag with
// several values has them in one text, as on the command line.
func configText(value jsontext.Value) (string, error) {
	switch value.Kind() {
	case '"':
		var s string
		err := json.Unmarshal(value, &s)
		return s, err
	case 't', 'f', '0':
		return value.String(), nil
	}
	return "", errors.New("want a string, a number, true or false")
}
