package web

import (
	"net/http"
	"time"
)

// NewProbes returns a server of /healthz, /readyz and /metrics alone, for a process without an engine, such as a witness: by
// the same door as [New], so with its bounds and its checks of hosts and rights, and without redirects. Of the options it
// reads Logger, Metrics, Access, Certificates and Hosts. role is the role that /readyz names, and waits says what the process
// waits for before it does its part; "": it does. It must not block, and is safe for concurrent use. The caller serves a
// listener with the server and shuts it down.
func NewProbes(opts Options, role string, waits func() string) *http.Server {
	w := &gateway{onlyProbes: true, opts: opts.withDefaults(), now: time.Now}
	ready := func(rw http.ResponseWriter, _ *http.Request) {
		body, code := readiness{Ready: true, Role: role}, http.StatusOK
		if body.Waits = waits(); body.Waits != "" {
			body.Ready, code = false, http.StatusServiceUnavailable
		}
		w.write(rw, code, body)
	}
	w.plain = map[string]http.HandlerFunc{"/healthz": w.health, "/readyz": ready, "/metrics": w.metrics}
	server := newServer(w, w.opts.Logger)
	server.RegisterOnShutdown(w.sends.shut)
	return server
}
