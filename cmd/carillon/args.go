package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// refuseUsersInArgs returns a usageError if a NATS URL on the command line has a user, a password or a token in it:
// every user of the machine can read the arguments of a process. The flags have the tag secret:"user". A value from a
// variable or from a config file is accepted, because only the owner of the process can read those.
func refuseUsersInArgs(command *kong.Context) error {
	for _, element := range command.Path {
		flag := element.Flag
		if flag == nil || element.Resolved || flag.Tag.Get("secret") != "user" {
			continue
		}
		value, _ := command.FlagValue(flag).(string)
		if !strings.Contains(value, "@") {
			continue
		}
		instead := "--creds FILE or --context NAME"
		if command.Selected() != nil && command.Selected().Name == "serve" {
			instead = `"` + flag.Name + `" in the file of --config, or --creds FILE`
		}
		return usagef("--%s has a user or a token in its URL, and every user of this machine can read the command line: set the variable %s, or use %s",
			flag.Name, flag.Envs[0], instead)
	}
	return nil
}
