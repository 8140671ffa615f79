package main

import (
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// secretKind says which secrets the value of a flag can have; it is the tag "secret" of the flag.
type secretKind string

const (
	secretWhole secretKind = "all"  // the value is a secret
	secretUser  secretKind = "user" // an address, or several, with or without a scheme: a user, a password, a query, a fragment
	secretURL   secretKind = "url"  // text that may be a URL with a user or a password
)

// urlWithUser matches a URL with a user, a password or a token.
var urlWithUser = regexp.MustCompile(`://[^/?#\s]*@`)

// isIn reports whether a value has a secret of the kind. An empty value has none: it takes the place of a variable.
func (k secretKind) isIn(value string) bool {
	switch k {
	case secretWhole:
		return value != ""
	case secretUser:
		return strings.ContainsAny(value, "@?#")
	case secretURL:
		return urlWithUser.MatchString(value)
	}
	return false
}

// refuseSecretsInArgs returns a usageError if a flag on the command line has a secret: every user of the machine can read
// the arguments of a process, and shells keep them. Values of variables and of files are accepted, because only the owner
// of the process reads those. The arguments themselves are searched, and not what the parser made of them, so that a flag
// that stands twice, or a command line that does not parse, is no way around.
func refuseSecretsInArgs(flags []*kong.Flag, args []string) error {
	for _, flag := range flags {
		kind := secretKind(flag.Tag.Get("secret"))
		if kind == "" {
			continue
		}
		for _, value := range valuesInArgs(flag, args) {
			if !kind.isIn(value) {
				continue
			}
			what := "has a user, a password, a token or a query in its URL"
			if kind == secretWhole {
				what = "has a secret as its value"
			}
			return usagef("--%s %s, and every user of this machine can read the command line: use %s", flag.Name, what, insteadOf(flag))
		}
	}
	return nil
}

// insteadOf says by what a secret is given instead.
func insteadOf(flag *kong.Flag) string {
	instead := flag.Tag.Get("instead")
	if len(flag.Envs) == 0 {
		return instead
	}
	return "the variable " + flag.Envs[0] + ", or " + instead
}

// valuesInArgs returns the values that a flag has in the arguments: of --name=value, --name value, -n value and -nvalue.
func valuesInArgs(flag *kong.Flag, args []string) (values []string) {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, found := strings.CutPrefix(arg, "--"+flag.Name+"="); found {
			values = append(values, value)
		}
		if value, found := strings.CutPrefix(arg, "-"+string(flag.Short)); found && flag.Short != 0 {
			values = append(values, value)
		}
		isFlag := arg == "--"+flag.Name || flag.Short != 0 && arg == "-"+string(flag.Short)
		if isFlag && i+1 < len(args) {
			values = append(values, args[i+1])
		}
	}
	return values
}

// allFlags returns the flags of a command and of those below it.
func allFlags(node *kong.Node) []*kong.Flag {
	flags := append([]*kong.Flag{}, node.Flags...)
	for _, child := range node.Children {
		flags = append(flags, allFlags(child)...)
	}
	return flags
}
