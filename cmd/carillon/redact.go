package main

import (
	"regexp"
	"strings"

	"github.com/carillon-io/carillon/serverurl"
)

// userOfURL matches the credentials in a URL: a user, and perhaps a password behind a colon. In the URL of a NATS
// server, a user without a password is a token. It errs on the side of removing too much: a user name that is removed
// from a message costs less than a token that is shown.
var userOfURL = regexp.MustCompile(`://([^\s/@:,]*)(:[^\s/@,]*)?@`)

// redactText removes passwords and tokens from the URLs in a text. It is applied to whatever is printed or logged
// about a connection, because errors of libraries contain URLs.
func redactText(text string) string {
	return userOfURL.ReplaceAllStringFunc(text, func(found string) string {
		user, _, hasPassword := strings.Cut(strings.TrimPrefix(found, "://"), ":")
		if !hasPassword {
			return "://xxxxx@"
		}
		return "://" + user + ":xxxxx@"
	})
}

// checkServers refuses a list of servers of which one is no URL, or has more than an address. Errors of libraries repeat
// what they cannot read, so it never comes to them.
func checkServers(list string) error {
	if _, err := serverurl.ParseList(list); err != nil {
		return usagef("--server: %v; want nats://host:4222 or https://host:7272, and a token by --token-file or CARILLON_TOKEN", err)
	}
	return nil
}
