package main

import (
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// parseTarget reads a target as the command line writes it. The server checks subject and URL.
func parseTarget(text string) (client.Target, error) {
	kind, rest, found := strings.Cut(text, ":")
	switch {
	case !found || rest == "":
	case kind == "nats", kind == "request", kind == "jetstream":
		return client.Target{Kind: kind, Subject: rest}, nil
	case kind == "http", kind == "https":
		return client.Target{Kind: "http", URL: text}, nil
	}
	return client.Target{}, fmt.Errorf("%q is no target; want nats:SUBJECT, request:SUBJECT, jetstream:SUBJECT or https://HOST/PATH", clip(text))
}

// showTarget is the inverse of parseTarget, for people.
func showTarget(t client.Target) string {
	switch t.Kind {
	case "http":
		if t.Method != "" && t.Method != "POST" {
			return t.Method + " " + t.URL
		}
		return t.URL
	case "handler":
		return "handler:" + t.Name
	}
	return t.Kind + ":" + t.Subject
}
