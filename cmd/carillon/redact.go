package main

import (
	"regexp"
	"strings"
)

// userOfURL finds who asks in a URL: a user, and a password behind a colon. In the URL of a NATS server
// a user without a password is a token.
var userOfURL = regexp.MustCompile(`://([^\s/@:,]*)(:[^\s/@,]*)?@`)

// redactText takes passwords and tokens out of the URLs in a text.
func redactText(text string) string {
	return userOfURL.ReplaceAllStringFunc(text, func(found string) string {
		user, _, hasPassword := strings.Cut(strings.TrimPrefix(found, "://"), ":")
		if !hasPassword {
			return "://xxxxx@"
		}
		return "://" + user + ":xxxxx@"
	})
}

// redactURLs takes passwords and tokens out of a list of NATS URLs, separated by commas.
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
