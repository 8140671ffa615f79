package main

import (
	"reflect"
	"slices"

	"github.com/alecthomas/kong"
)

// kindsOfNames are the completions of flags that name a job or a node. Without such a flag a command is about all jobs, or about
// any node.
var kindsOfNames = []string{"@jobs", "@nodes"}

// refuseEmptyNames refuses a flag for a job, a node or a tenant whose value is empty: a script's variable is probably not set, and
// the command would do more than was meant, or in another tenant.
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
