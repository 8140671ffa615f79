package testkit

import (
	"io"
	"net/http"
	"testing"
)

// A Reply is an answer over HTTP, read to its end.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Get fetches a URL, and ends the test if no whole reply comes. A status that refuses is a reply too.
func Get(t testing.TB, url string) Reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Do(t, http.DefaultClient, req)
}

// Do sends a request, and ends the test if no whole reply comes. A status that refuses is a reply too.
func Do(t testing.TB, c *http.Client, req *http.Request) Reply {
	t.Helper()
	res, err := c.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return Reply{res.StatusCode, res.Header, string(body)}
}
