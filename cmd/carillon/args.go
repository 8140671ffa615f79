package main

import (
	"strings"

	"github.com/alecthomas/kong"
)

// warnOfSecretsInArgs warns of secrets on the command line, such as the value of --token. They are not refused, because
// a flag that exists must work, as on a machine of one user. The flags have the tag secret:"all".
func warnOfSecretsInArgs(con *console, command *kong.Context) {
	for _, element := range command.Path {
		flag := element.Flag
		if flag == nil || element.Resolved || flag.Tag.Get("secret") != "all" {
			continue
		}
		con.notef("carillon: other users of this machine can read --%s on the command line, and shells keep it: set %s, or use --token-file or 'carillon login'\n", flag.Name, flag.Envs[0])
	}
}

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
		instead := "--creds FILE, --token-file FILE or 'carillon login'"
		if command.Selected() != nil && command.Selected().Name == "serve" {
			instead = `"` + flag.Name + `" in the file of --config, or --creds FILE`
		}
		return usagef("--%s has a user or a token in its URL, and every user of this machine can read the command line: set the variable %s, or use %s",
			flag.Name, flag.Envs[0], instead)
	}
	return nil
}
