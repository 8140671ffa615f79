// Package serverurl reads the addresses of servers as users write them: a URL of NATS or HTTP, or several of them separated
// by commas. An address without a scheme is one of NATS. The server, the commands and the Go client read addresses with it
// alone, so that they take the same ones.
//
// An address may have a password, also anywhere in what is no URL. So no error of the package repeats an address, and the
// libraries get only addresses that it has read: their errors repeat what they cannot read.
package serverurl

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// NATS is the scheme of an address that has none.
const NATS = "nats"

// hidden is shown in the place of a password or a token.
const hidden = "xxxxx"

// Parse reads one address. The error does not repeat it.
func Parse(address string) (*url.URL, error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") {
		address = NATS + "://" + address
	}
	u, err := url.Parse(address)
	// What stands before the last @ may be a password, and is taken for a host and a path if it has a slash.
	if err != nil || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@") {
		return nil, errors.New("is no URL; in a password write %2F for /, %3F for ?, %23 for # and %20 for a blank")
	}
	return u, nil
}

// ParseList reads the addresses of a list, and refuses those that no server can have; none for "". The error names the
// first bad one by its number, from 1.
func ParseList(list string) (all []*url.URL, err error) {
	if list == "" {
		return nil, nil
	}
	for i, one := range strings.Split(list, ",") {
		u, err := Parse(one)
		switch {
		case err != nil:
		case u.Host == "":
			err = errors.New("has no host")
		case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
			err = errors.New("has more than an address (? or #); in a password write %3F for ? and %23 for #")
		}
		if err != nil {
			return nil, fmt.Errorf("address %d %w", i+1, err)
		}
		all = append(all, u)
	}
	return all, nil
}

// Redact returns a list of addresses as messages show it: without passwords, tokens and queries. In a URL of NATS, a user
// without a password is a token. Nothing is shown of an address that is no URL.
func Redact(list string) string {
	if list == "" {
		return ""
	}
	all := strings.Split(list, ",")
	for i, one := range all {
		u, err := Parse(one)
		if err != nil {
			all[i] = "(no URL)"
			continue
		}
		shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
		if u.User != nil {
			shown.User = url.User(hidden)
			if _, has := u.User.Password(); has {
				shown.User = url.UserPassword(u.User.Username(), hidden)
			}
		}
		all[i] = shown.String()
	}
	return strings.Join(all, ",")
}

// First returns the first address of a list; the zero value if it is no URL.
func First(list string) url.URL {
	first, _, _ := strings.Cut(list, ",")
	if u, err := Parse(first); err == nil {
		return *u
	}
	return url.URL{}
}

// IsHTTP reports whether the first address of a list is one of HTTP.
func IsHTTP(list string) bool {
	scheme := First(list).Scheme
	return scheme == "http" || scheme == "https"
}
