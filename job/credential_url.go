package job

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// userPlace is the place of a URL's password, or of its user if there is no password: that is a token then. The
// places of parameters begin with a question mark.
const userPlace = "@"

// rewriteURL returns a URL with each credential replaced by what with returns for its place and value. It
// works on the text, so that nothing else changes, and takes what is no URL as well.
func rewriteURL(raw string, with func(place, value string) string) string {
	end := strings.IndexAny(raw, "?#")
	if end < 0 {
		return rewriteUser(raw, with)
	}
	head, tail := rewriteUser(raw[:end], with), raw[end:]
	query, fragment, hasFragment := strings.Cut(tail, "#")
	seen := make(map[string]int)
	if query != "" {
		head += "?" + rewriteQuery(query[1:], seen, with)
	}
	if hasFragment {
		head += "#" + rewriteQuery(fragment, seen, with)
	}
	return head
}

// rewriteUser does so for what a URL has before its query.
func rewriteUser(head string, with func(place, value string) string) string {
	scheme, rest, found := strings.Cut(head, "://")
	if !found {
		return head
	}
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(authority, '@')
	if at <= 0 {
		return head
	}
	user, password, hasPassword := strings.Cut(authority[:at], ":")
	switch {
	case password != "":
		user += ":" + with(userPlace, password)
	case hasPassword:
		user += ":"
	default:
		user = with(userPlace, user)
	}
	return scheme + "://" + user + authority[at:] + path
}

// rewriteQuery does so for the parameters of a query. The places of parameters of one name are numbered.
func rewriteQuery(query string, seen map[string]int, with func(place, value string) string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil {
			plain = name
		}
		if value == "" || !isCredentialParam(plain) {
			continue
		}
		pairs[i] = name + "=" + with("?"+strconv.Itoa(seen[plain])+plain, value)
		seen[plain]++
	}
	return strings.Join(pairs, "&")
}

// mayHaveCredentials reports whether a URL has a user, a query or a fragment: most have none.
func mayHaveCredentials(raw string) bool { return strings.ContainsAny(raw, "@?#") }

// credentialsOfURL returns the credentials of a URL by their places.
func credentialsOfURL(raw string) map[string]string {
	if !mayHaveCredentials(raw) {
		return nil
	}
	found := make(map[string]string)
	rewriteURL(raw, func(place, value string) string {
		found[place] = value
		return value
	})
	return found
}

// unescaped returns what a value of a query means.
func unescaped(value string) string {
	if plain, err := url.QueryUnescape(value); err == nil {
		return plain
	}
	return value
}

// MaskURL returns a URL with masks in the place of its credentials: the password of the user, a user without
// one, and the parameters of the query whose names say so. The path is left as it is.
func MaskURL(raw string) string {
	if !mayHaveCredentials(raw) {
		return raw
	}
	return rewriteURL(raw, func(_, value string) string {
		if isMask(unescaped(value)) {
			return value
		}
		return Mask
	})
}

// MaskText returns a text with masks in the place of the credentials of the URLs in it.
func MaskText(text string) string {
	const colon = "://"
	if !strings.Contains(text, colon) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, colon)
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i])
		end := i + len(colon)
		if n := strings.IndexAny(text[end:], " \t\r\n\"'`<>"); n >= 0 {
			end += n
		} else {
			end = len(text)
		}
		b.WriteString(MaskURL(text[i:end]))
		text = text[end:]
	}
}

// hasMaskInPart reports whether a credential of a URL has a mask in it and something else besides.
func hasMaskInPart(raw string) bool {
	for _, value := range credentialsOfURL(raw) {
		if isMaskInPart(unescaped(value)) {
			return true
		}
	}
	return false
}

// originOf returns scheme, host and port of a URL, in the one form that equal ones share; the URL without its
// credentials if it has none.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return MaskURL(raw)
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return scheme + "://" + net.JoinHostPort(host, port)
}
