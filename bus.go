package carillon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/carillon-io/carillon/dispatch"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// bus is the way to NATS: the embedded server, if there is one, and three connections. Requests, launches
// and notices each have their own, so that a flood of one never delays the others.
type bus struct {
	embedded *server.Server
	url      string
	api      *nats.Conn
	dispatch *dispatch.NATS
	notices  *dispatch.NATS
}

// maxPayload is the largest message that the embedded server takes: a bulk registration of thousands
// of jobs is one message.
const maxPayload = 4 << 20

func openBus(ctx context.Context, o Options) (_ *bus, err error) {
	b := &bus{url: o.NATSURL}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if o.NATSURL == "" {
		if err := b.embed(o); err != nil {
			return nil, err
		}
	}
	if b.api, err = b.connect(ctx, o); err != nil {
		return nil, err
	}
	for name, conn := range map[string]**dispatch.NATS{"carillon dispatch": &b.dispatch, "carillon notices": &b.notices} {
		if *conn, err = dispatch.ConnectNATS(b.url, b.options(o, name)...); err != nil {
			return nil, fmt.Errorf("connect to NATS at %s: %w", b.url, err)
		}
	}
	return b, nil
}

// embed starts a NATS server with JetStream inside this process.
func (b *bus) embed(o Options) error {
	host, portText, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("listen for NATS on %q: want host:port, such as 127.0.0.1:4222", o.Listen)
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port < 0 || port > 65535 {
		return fmt.Errorf("listen for NATS on %q: the port must be 0 to 65535", o.Listen)
	}
	if err := probe(o.Listen); err != nil {
		return err
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	b.embedded, err = server.NewServer(&server.Options{
		ServerName: "carillon", Host: host, Port: port, NoSigs: true, MaxPayload: maxPayload,
		JetStream: true, StoreDir: filepath.Join(o.Dir, "nats"), SyncInterval: time.Second,
	})
	if err != nil {
		return fmt.Errorf("start the embedded NATS server: %w", err)
	}
	b.embedded.SetLoggerV2(natsLogger{o.Logger}, false, false, false)
	b.embedded.Start()
	if !b.embedded.ReadyForConnections(10 * time.Second) {
		return errors.New("the embedded NATS server did not become ready; its log lines say why")
	}
	b.url = "nats://" + b.embedded.Addr().String()
	return nil
}

// probe tells that an address cannot be had before the server does, which would only log it.
func probe(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for NATS on %s: %w", addr, err)
	}
	return l.Close()
}

// connect makes the connection that requests come in by.
func (b *bus) connect(ctx context.Context, o Options) (*nats.Conn, error) {
	const name = "carillon api"
	options := append(b.options(o, name),
		nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Logger.Warn("lost the connection to NATS", slog.String("connection", name), slog.Any("error", err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			o.Logger.Info("connected to NATS again", slog.String("connection", name))
		}))
	nc, err := nats.Connect(b.url, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", b.url, err)
	}
	return nc, ctx.Err()
}

// options are what the connections share: how to get there and who we are.
func (b *bus) options(o Options, name string) []nats.Option {
	options := []nats.Option{nats.Name(name), nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(5 * time.Second)}
	if b.embedded != nil {
		options = append(options, nats.InProcessServer(b.embedded))
	}
	if o.Creds != "" {
		options = append(options, nats.UserCredentials(o.Creds))
	}
	if o.TLSCert != "" {
		options = append(options, nats.ClientCert(o.TLSCert, o.TLSKey))
	}
	if o.TLSCA != "" {
		options = append(options, nats.RootCAs(o.TLSCA), nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	return options
}

// flush returns when the servers know of our subscriptions.
func (b *bus) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := b.api.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("reach NATS at %s: %w", b.url, err)
	}
	return nil
}

// close ends what openBus began. The dispatcher closes its connection itself; a second time does no
// harm.
func (b *bus) close() {
	if b.api != nil {
		b.api.Close()
	}
	for _, conn := range []*dispatch.NATS{b.dispatch, b.notices} {
		if conn != nil {
			conn.Close()
		}
	}
	if b.embedded != nil {
		b.embedded.Shutdown()
		b.embedded.WaitForShutdown()
	}
}

// natsLogger passes what the embedded server has to say on to ours.
type natsLogger struct{ log *slog.Logger }

func (l natsLogger) Noticef(format string, v ...any) {
	l.log.Debug("nats: " + fmt.Sprintf(format, v...))
}
func (l natsLogger) Warnf(format string, v ...any) { l.log.Warn("nats: " + fmt.Sprintf(format, v...)) }
func (l natsLogger) Errorf(format string, v ...any) {
	l.log.Error("nats: " + fmt.Sprintf(format, v...))
}
func (l natsLogger) Fatalf(format string, v ...any) {
	l.log.Error("nats: " + fmt.Sprintf(format, v...))
}
func (l natsLogger) Debugf(format string, v ...any) {
	l.log.Debug("nats: " + fmt.Sprintf(format, v...))
}
func (l natsLogger) Tracef(format string, v ...any) {
	l.log.Debug("nats: " + fmt.Sprintf(format, v...))
}
