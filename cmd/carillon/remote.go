package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// remoteFlags are the flags of the commands that change something on a server or read from it. A command that the
// audit log does not record, such as backup, embeds serverFlags alone.
type remoteFlags struct {
	serverFlags
	By callerName `help:"Name of the caller in the audit log; user and machine if left out." placeholder:"NAME" env:"CARILLON_BY" group:"server"`
}

// connect connects to the server in the name of the user (--by). The caller must close the result.
func (f *remoteFlags) connect(ctx context.Context) (*remote, error) {
	return f.connectAs(ctx, f.by())
}

// by returns the name of the caller for the audit log.
func (f *remoteFlags) by() string {
	if f.By != "" {
		return string(f.By)
	}
	return whoAsks()
}

// whoAsks returns user@host for the audit log, cut to the length and the characters that it accepts. It is a hint and
// no proof: a caller may give any name, and the server records besides from where a request came.
func whoAsks() string {
	user := os.Getenv("USER")
	if user == "" {
		user = fmt.Sprint(os.Getuid())
	}
	host, _ := os.Hostname()
	by := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, user+"@"+host)
	for len(by) > job.ActorBytesMax {
		_, size := utf8.DecodeLastRuneInString(by)
		by = by[:len(by)-size]
	}
	return by
}

// serverFlags select a server and say how to connect to it. All are optional: without any, the current context is used,
// or else a server on this machine in the name of the default tenant.
type serverFlags struct {
	Context string `help:"Take address, credentials and tenant from this context of 'carillon login', or else of the nats command, instead of --server and the flags for credentials." placeholder:"NAME" complete:"@contexts" env:"CARILLON_CONTEXT" group:"server"`
	endpointFlags
	Standby bool `help:"Ask a standby instead of the leader: read only, and perhaps behind." env:"CARILLON_STANDBY" group:"server"`
}

// remote is a connection to a server. It is used by one command and closed by it.
type remote struct {
	*client.Client
	// nc is closed by close, and not by the client, which did not make it. It is nil over HTTP.
	nc *nats.Conn
	// searched is whether the command has searched for a name that is similar to a wrong one; see orSimilar.
	searched bool
}

// connectAs connects to the server. By is the name for the audit log; "" sends none. The caller must close the result.
// It fails if no server answers now, instead of waiting: a person is at the terminal, and a script can repeat.
func (f *serverFlags) connectAs(ctx context.Context, by string) (*remote, error) {
	return f.connectWith(ctx, client.Options{By: by})
}

// connectOverAll is connectAs for what belongs to no tenant.
func (f *serverFlags) connectOverAll(ctx context.Context, by string) (*remote, error) {
	return f.connectWith(ctx, client.Options{By: by, AllTenants: true})
}

func (f *serverFlags) connectWith(ctx context.Context, opts client.Options) (*remote, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e, err := f.endpoint()
	if err != nil {
		return nil, err
	}
	if f.Timeout <= 0 {
		return nil, usagef("--timeout is %s; want the time that a request may take, such as 15s", time.Duration(f.Timeout))
	}
	opts.Standby, opts.Timeout = f.Standby, time.Duration(f.Timeout)
	return e.connect(opts)
}

// endpoint returns what the flags and their variables say, and for the rest what the context says.
func (f *serverFlags) endpoint() (*endpoint, error) {
	e, err := f.given()
	if err != nil {
		return nil, err
	}
	switch {
	case f.Context != "":
		return e.inContext(f.Context)
	case e.Server != "":
		return e, nil // the credentials of a context are for its own server alone
	}
	name, err := currentContext()
	if name == "" || err != nil {
		return e, err
	}
	saved, err := readContext(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("the current context %s is missing; choose another with 'carillon context use NAME', or end it with 'carillon logout'", name)
	}
	if err != nil {
		return nil, err
	}
	return e.over(saved), nil
}

// close closes the connection. Requests that are under way fail.
func (r *remote) close() {
	r.Close()
	if r.nc != nil {
		r.nc.Close()
	}
}

// get returns a job, with its credentials in clear or masked.
func (r *remote) get(ctx context.Context, name string, withCredentials bool) (client.JobInfo, error) {
	if withCredentials {
		return r.GetWithCredentials(ctx, name)
	}
	return r.Get(ctx, name)
}
