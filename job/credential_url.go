package job

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// userPlace is the place of a URL's password, or of its user if it has no password, because the user is then a token.
// For URLs in the path a number follows. The places of parameters begin with a question mark.
const userPlace = "@"

// nestedMax bounds the depth of URLs within URLs that are read. One that is nested deeper counts as a credential. The
// bound keeps the cost of a hostile URL small.
const nestedMax = 4

// rewriteURL returns a URL in which each credential is replaced by the result of with for its place and value. It
// works on the text, so that nothing else changes, and accepts texts that are not URLs. A URL that is parsed and
// printed again may have other escapes or another order, and a put of a shown definition would then change the job.
func rewriteURL(raw string, with func(place, value string) string) string {
	return urlRewriter{with: with}.rewrite(raw)
}

// urlRewriter rewrites a URL, or one that is part of another.
type urlRewriter struct {
	with  func(place, value string) string
	where string // prefix of the places: the path to a URL within a URL
	depth int
}

// inside returns the rewriter of a URL at a place of this one.
func (w urlRewriter) inside(place string) urlRewriter {
	return urlRewriter{with: w.with, where: w.where + place + ">", depth: w.depth + 1}
}

func (w urlRewriter) rewrite(raw string) string {
	end := strings.IndexAny(raw, "?#")
	if end < 0 {
		return w.rewriteUser(raw)
	}
	head, tail := w.rewriteUser(raw[:end]), raw[end:]
	query, fragment, hasFragment := strings.Cut(tail, "#")
	seen := make(map[string]int)
	if query != "" {
		head += "?" + w.rewriteQuery(query[1:], seen)
	}
	if hasFragment {
		head += "#" + w.rewriteQuery(fragment, seen)
	}
	return head
}

// rewriteUser rewrites the part of a URL before its query: its user, and the users of URLs in its path.
func (w urlRewriter) rewriteUser(head string) string {
	var b strings.Builder
	for n := 0; ; n++ {
		scheme, rest, found := strings.Cut(head, "://")
		if b.WriteString(scheme); !found {
			return b.String()
		}
		authority, place := rest, w.where+userPlace
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			authority = rest[:i]
		}
		if n > 0 {
			place += strconv.Itoa(n)
		}
		b.WriteString("://")
		b.WriteString(w.rewriteAuthority(authority, place))
		head = rest[len(authority):]
	}
}

// rewriteAuthority rewrites user and host of a URL.
func (w urlRewriter) rewriteAuthority(authority, place string) string {
	at := strings.LastIndexByte(authority, '@')
	if at <= 0 {
		return authority
	}
	user, password, hasPassword := strings.Cut(authority[:at], ":")
	switch {
	case password != "":
		user += ":" + w.with(place, password)
	case hasPassword:
		user += ":"
	default:
		user = w.with(place, user)
	}
	return user + authority[at:]
}

// rewriteQuery rewrites the parameters of a query. Places of parameters with the same name are numbered.
func (w urlRewriter) rewriteQuery(query string, seen map[string]int) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" {
			continue
		}
		plain := unescaped(name)
		place := "?" + strconv.Itoa(seen[plain]) + plain
		seen[plain]++
		pairs[i] = name + "=" + w.rewriteParam(place, plain, value)
	}
	return strings.Join(pairs, "&")
}

// rewriteParam rewrites the value of a parameter. The value is a credential if the name of the parameter says so, if
// it is a mask, or if it contains an escaped URL with a credential, which cannot be replaced in place.
func (w urlRewriter) rewriteParam(place, name, value string) string {
	if isCredentialParam(name) || isMask(unescaped(value)) {
		return w.with(w.where+place, value)
	}
	link, isURL := urlIn(value)
	if !isURL {
		return value
	}
	in := w.inside(place)
	if in.depth > nestedMax {
		return w.with(w.where+place, value)
	}
	shown := in
	shown.with = maskOf
	masked := shown.rewrite(link)
	if plain := unescaped(masked); masked != link && link != value || shown.rewrite(plain) != plain {
		return w.with(w.where+place, value)
	}
	if link != value {
		return value
	}
	return in.rewrite(value)
}

// urlIn returns the URL that a value contains, without the escapes that hide it.
func urlIn(value string) (link string, found bool) {
	for range nestedMax {
		if strings.Contains(value, "://") {
			return value, true
		}
		value = unescaped(value)
	}
	return "", false
}

// mayHaveCredentials reports whether a URL has a user, a query or a fragment; most URLs have none.
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

// unescaped returns the unescaped value of a query parameter. A value with a malformed escape is returned as it is,
// because targets and proxies disagree about its meaning.
func unescaped(value string) string {
	if plain, err := url.QueryUnescape(value); err == nil {
		return plain
	}
	return value
}

// MaskURL returns a URL with masks in place of its credentials: the password of the user, a user without a password,
// the parameters of the query whose names mark them, and the credentials of URLs in its path and its parameters. The
// rest of the path is unchanged.
func MaskURL(raw string) string {
	if !mayHaveCredentials(raw) {
		return raw
	}
	return rewriteURL(raw, maskOf)
}

// maskOf returns what is shown instead of a credential: a mask, or the value itself if it is a mask.
func maskOf(_, value string) string {
	if isMask(unescaped(value)) {
		return value
	}
	return Mask
}

// MaskText returns a text with masks in place of the credentials of the URLs in it. It finds URLs by "://" alone,
// which needs no list of schemes.
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

// hasMaskInPart reports whether a credential of a URL contains a mask and something else.
func hasMaskInPart(raw string) bool {
	for _, value := range credentialsOfURL(raw) {
		if isMaskInPart(unescaped(value)) {
			return true
		}
	}
	return false
}

// originOf returns scheme, host and port of a URL, in one form for equal ones; the URL without its credentials if it
// has none.
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
