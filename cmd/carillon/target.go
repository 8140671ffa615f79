package main

import (
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// parseTarget parses a target in the syntax of the command line. The server checks subject and URL. The kinds and the
// prefixes are the same words as in the API; a handler has no notation, because only an embedded program can have one.
func parseTarget(text string) (client.Target, error) {
	kind, rest, found := strings.Cut(text, ":")
	switch {
	case !found || rest == "":
	case kind == "nats", kind == "request", kind == "jetstream":
		return client.Target{Kind: kind, Subject: rest}, nil
	// The whole text is the URL: its scheme is the prefix of the target at the same time.
	case kind == "http", kind == "https":
		return client.Target{Kind: "http", URL: text}, nil
	}
	return client.Target{}, fmt.Errorf("%q is no target; want nats:SUBJECT, request:SUBJECT, jetstream:SUBJECT or https://HOST/PATH", clip(text))
}

// showTarget returns a target in the syntax of the command line, with the method of an HTTP target unless it is POST.
func showTarget(t client.Target) string {
	switch t.Kind {
	case "http":
		url := t.URL
		if t.URLSecret.Name != "" {
			url = "URL " + t.URLSecret.String()
		}
		if t.Method != "" && t.Method != "POST" {
			return t.Method + " " + url
		}
		return url
	case "handler":
		return "handler:" + t.Name
	}
	return t.Kind + ":" + t.Subject
}
