package main

import (
	"regexp"
	"strings"
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

// redactURLs removes passwords and tokens from a list of NATS URLs, separated by commas. A server may stand there
// without a scheme, which the pattern alone would not recognise.
func redactURLs(list string) string {
	all := strings.Split(list, ",")
	for i, one := range all {
		if strings.Contains(one, "@") && !strings.Contains(one, "://") {
			one = "nats://" + strings.TrimSpace(one)
		}
		all[i] = redactText(one)
	}
	return strings.Join(all, ",")
}
