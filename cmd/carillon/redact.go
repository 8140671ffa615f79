package main

import (
	"net/url"
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

// redactURLs removes passwords, tokens and queries from a list of URLs of servers, separated by commas. A server may
// stand there without a scheme. Nothing is shown of an address that is no URL: a password may be anywhere in it.
func redactURLs(list string) string {
	if list == "" {
		return ""
	}
	all := strings.Split(list, ",")
	for i, one := range all {
		u, err := serverURL(one)
		if err != nil {
			all[i] = "(no URL)"
			continue
		}
		shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
		all[i] = shown.String()
		if u.User != nil {
			all[i] = redactText(u.Scheme + "://" + u.User.String() + "@" + strings.TrimPrefix(all[i], u.Scheme+"://"))
		}
	}
	return strings.Join(all, ",")
}

// serverURL parses the address of a server, which may have no scheme.
func serverURL(addr string) (*url.URL, error) {
	addr = strings.TrimSpace(addr)
	if !strings.Contains(addr, "://") {
		addr = "nats://" + addr
	}
	return url.Parse(addr)
}

// checkServers refuses a list of servers of which one is no URL, or has more than an address. Errors of libraries repeat
// what they cannot read, so it never comes to them.
func checkServers(list string) error {
	for i, one := range strings.Split(list, ",") {
		u, err := serverURL(one)
		switch {
		case err != nil:
			return usagef("--server: address %d is no URL; want nats://host:4222 or https://host:7272, and in a password %%2F for /, %%23 for #, %%20 for a blank", i+1)
		case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
			return usagef("--server: address %d has more than an address (? or #); give a token with --token-file or CARILLON_TOKEN, and in a password write %%3F for ? and %%23 for #", i+1)
		}
	}
	return nil
}
