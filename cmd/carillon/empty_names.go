package main

import (
	"reflect"
	"slices"

	"github.com/alecthomas/kong"
)

// kindsOfNames are the completions of flags that name a thing on the server, without which a command is about more of them: all
// jobs, any node, or another tenant.
var kindsOfNames = []string{"@jobs", "@nodes"}

// refuseEmptyNames refuses a flag for a name whose value is empty, as that of a script's variable which is not set. Left out, it
// would be for more than one; so an empty one is a mistake.
func refuseEmptyNames(command *kong.Context) error {
	for _, p := range command.Path {
		f := p.Flag
		if f == nil || f.Target.Kind() != reflect.String || f.Target.String() != "" {
			continue
		}
		if slices.Contains(kindsOfNames, f.Tag.Get("complete")) || f.Name == "tenant" {
			return usagef("--%s is empty; want a name, or leave the flag out", f.Name)
		}
	}
	return nil
}
