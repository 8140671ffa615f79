package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// serve gives a page of the test's own an address.
func serve(t *testing.T, policy, html string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		fmt.Fprint(w, html)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestWatchSees shows pages that do what must not be: a watch that saw nothing would pass every story.
func TestWatchSees(t *testing.T) {
	tests := map[string]struct{ policy, html, want string }{
		"console":   {"", `<script>console.error("broken", 7)</script>`, `console: error "broken" 7`},
		"exception": {"", `<script>nobody.knows()</script>`, "nobody is not defined"},
		"dialog":    {"", `<body><script>alert("hello")</script>`, "dialog: hello"},
		"origin":    {"", `<img src="http://elsewhere.example/pixel.png">`, "request to another origin: http://elsewhere.example/pixel.png"},
		"script":    {"script-src 'self'", `<script>1</script>`, "Content Security Policy"},
		"style":     {"style-src 'self'", `<p style="color: red">red</p>`, "Content Security Policy"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := serve(t, test.policy, "<!doctype html><link rel=icon href=data:,>"+test.html)
			tab, err := chromium.Tab(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer tab.Close()
			if err := tab.Open(s.URL); err != nil {
				t.Fatal(err)
			}
			if got := tab.Faults(); !slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, test.want) }) {
				t.Errorf("the faults are %q; want one with %q", got, test.want)
			}
		})
	}
}

// TestEyesSee shows what each eye is there to find, and the same done well.
func TestEyesSee(t *testing.T) {
	const head = `<!doctype html><html lang=en><title>t</title><link rel=icon href=data:,><meta name=viewport content="width=device-width">`
	const frame = head + `<a href="#main">Skip</a><nav><a href="/">Home</a></nav><main id=main><h1>h</h1>`
	tests := map[Eye]struct{ bad, good string }{
		EyeContrast: {`<body style="background: #333"><p style="color: #888">grey</p>`, `<p style="color: color-mix(in srgb, black, #666)">black</p>`},
		EyeOverflow: {`<div style="width: 1500px">wide</div>`, `<div style="overflow-x: auto"><div style="width: 1500px">wide</div></div>`},
		EyeOrder:    {`<input name=a>`, `<label>a <input name=a></label>`},
		EyeSmuggled: {`<p onclick="x()">p</p>`, `<p>&lt;script&gt;</p>`},
		EyeUnfocused: {`<label>a <input style="outline: none"></label>`,
			`<label>a <input style="outline: 2px solid blue"></label>`},
	}
	for eye, test := range tests {
		t.Run(string(eye), func(t *testing.T) {
			for html, want := range map[string]bool{test.bad: true, test.good: false} {
				tab, err := chromium.Tab()
				if err != nil {
					t.Fatal(err)
				}
				defer tab.Close()
				tab.watch.origins = []string{serve(t, "", frame+html).URL}
				if err := tab.Open(tab.watch.origins[0]); err != nil {
					t.Fatal(err)
				}
				// The attribute autofocus would do it at a time of its own.
				if _, err := Eval[bool](tab, `(document.querySelector("label input")?.focus(), true)`); err != nil {
					t.Fatal(err)
				}
				got, err := tab.Inspect(eye)
				if err != nil || (len(got) > 0) != want {
					t.Errorf("%s: found %q, %v; want something: %t", html, got, err, want)
				}
			}
		})
	}
}
