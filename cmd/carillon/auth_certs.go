package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/smallfile"
)

// authCertsCmd makes certificates for trying out. A second call adds to the first: it uses the authority that is there.
type authCertsCmd struct {
	Dir    string   `arg:"" help:"Directory for the files; created if it does not exist."`
	Nodes  []string `help:"Names of the nodes that get a certificate each, for all listeners. Default: server, if the directory has no authority yet." placeholder:"NAME,…"`
	Hosts  []string `help:"Host names and addresses by which the nodes are reached, besides their own names and localhost." placeholder:"HOST,…"`
	Client []string `help:"Names of clients that get a certificate each." placeholder:"NAME,…"`
	Days   int      `help:"Days until the certificates end. The authority ends after ten years." default:"365"`
}

// Help is what `carillon auth certs --help` says besides the flags.
func (*authCertsCmd) Help() string {
	return `The files are ca.crt, ca.key, and NAME.crt and NAME.key for each node and client; and for the peers of a cluster peers-ca.crt, peers-ca.key, and NAME-peer.crt and NAME-peer.key for each node. Keys are readable by their owner only. No file is replaced: to renew that of a client, remove its two files first; to renew those of a node, all four. If the directory has the authorities, they issue the new certificates.

The peers have an authority of their own, because every certificate of that authority makes its holder a node, who reads and writes everything: give peers-ca.crt to --cluster-tls-ca alone, and ca.crt to the rest. Keep ca.key and peers-ca.key where no server runs, and give a node and a client no other key than its own. For production use a real authority, such as that of cert-manager.

Examples:

  carillon auth certs ./tls
  carillon auth certs ./tls --nodes a,b,c --hosts 10.0.0.1,10.0.0.2,10.0.0.3
  carillon auth certs ./tls --client ops`
}

// The bounds of the command. A directory with more certificates than that needs a real authority.
const (
	authCertsMax     = 100
	authDaysMax      = 3650
	authHostsMax     = 100
	authorityYears   = 10
	authorityFile    = "ca"       // of servers and clients; .crt and .key follow
	peersFile        = "peers-ca" // of the peers of a cluster
	peerSuffix       = "-peer"    // follows the name of a node in that of its certificate for peers
	authFileBytesMax = 64 << 10
	authNameBytesMax = 64
	authDirMode      = 0o700
	authCertMode     = 0o644
	authKeyMode      = 0o600
	nodeDefault      = "server"
)

// authorityMeans is what the holder of an authority's key can do, by the name of the file.
var authorityMeans = map[string]string{
	authorityFile + ".key": "its holder can issue certificates of servers and clients",
	peersFile + ".key":     "its holder can make nodes, which read and write everything",
}

// authName is a name that is a file as well, and a name in a certificate.
var authName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]*$`)

// authFile is a file to be made.
type authFile struct {
	path string
	text []byte
	mode fs.FileMode
}

// Run implements the command. It makes everything in memory before it writes the first file.
func (c *authCertsCmd) Run(con *console) error {
	if err := c.check(); err != nil {
		return err
	}
	authority, files, err := c.authority(authorityFile, "Carillon authority for trying out")
	if err != nil {
		return err
	}
	nodes := c.Nodes
	if len(nodes) == 0 && len(files) > 0 {
		nodes = []string{nodeDefault}
	}
	ofPeers, more, err := c.peersAuthority(nodes)
	if err != nil {
		return err
	}
	files = append(files, more...)
	for _, name := range nodes {
		one, err := c.issue(authority, name, c.hostsOf(name), certs.Wanted{Server: true})
		if err != nil {
			return err
		}
		peer, err := c.issue(ofPeers, name+peerSuffix, c.hostsOf(name), certs.Wanted{Server: true, Client: true})
		if err != nil {
			return err
		}
		files = append(append(files, one...), peer...)
	}
	for _, name := range c.Client {
		one, err := c.issue(authority, name, []string{name}, certs.Wanted{Client: true})
		if err != nil {
			return err
		}
		files = append(files, one...)
	}
	if err := os.MkdirAll(c.Dir, authDirMode); err != nil {
		return err
	}
	if err := writeNew(files); err != nil {
		return err
	}
	c.show(con, files, nodes)
	return nil
}

// show lists the files that were made, says how they are used, and which of them belong on no server.
func (c *authCertsCmd) show(con *console, files []authFile, nodes []string) {
	for _, f := range files {
		con.printf("%s\n", f.path)
	}
	con.notef("%s", markup(c.usage(nodes)))
	for _, f := range files {
		if means := authorityMeans[filepath.Base(f.path)]; means != "" {
			con.notef("\nkeep %s where no server runs: %s\n", f.path, means)
		}
	}
}

// check refuses names that cannot be files, and numbers out of bounds.
func (c *authCertsCmd) check() error {
	names := slices.Concat(c.Nodes, c.Client)
	slices.Sort(names)
	switch {
	case c.Days < 1 || c.Days > authDaysMax:
		return usagef("--days %d: want 1 to %d", c.Days, authDaysMax)
	case len(names) > authCertsMax || len(c.Hosts) > authHostsMax:
		return usagef("too many names; want at most %d certificates with %d hosts", authCertsMax, authHostsMax)
	case len(slices.Compact(slices.Clone(names))) != len(names):
		return usagef("a name stands twice among --nodes and --client; each has files of its own")
	}
	for _, name := range names {
		if !authName.MatchString(name) || len(name) > authNameBytesMax || name == authorityFile || name == peersFile || strings.HasSuffix(name, peerSuffix) {
			return usagef("%q is no name of a certificate; want letters, digits, ., _, - and @, and neither ca nor peers-ca nor -peer at the end", clip(name))
		}
	}
	for _, host := range c.Hosts {
		if host == "" || len(host) > 253 {
			return usagef("--hosts: %q is no host name", clip(host))
		}
	}
	return nil
}

// peersAuthority reads or makes the authority of the peers, if there are nodes. It is another one than that of clients, so
// that no certificate that a client gets, by mistake for both uses, makes it a node of the cluster.
func (c *authCertsCmd) peersAuthority(nodes []string) (*certs.Authority, []authFile, error) {
	if len(nodes) == 0 {
		return nil, nil, nil
	}
	return c.authority(peersFile, "Carillon authority of peers for trying out")
}

// authority reads an authority of the directory, or makes one, which is returned as files to be written.
func (c *authCertsCmd) authority(file, name string) (*certs.Authority, []authFile, error) {
	certPath, keyPath := filepath.Join(c.Dir, file+".crt"), filepath.Join(c.Dir, file+".key")
	cert, err := smallfile.Read(certPath, authFileBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		made, err := certs.NewAuthority(name, time.Now().AddDate(authorityYears, 0, 0))
		if err != nil {
			return nil, nil, err
		}
		cert, key, err := made.PEM()
		return made, []authFile{{certPath, cert, authCertMode}, {keyPath, key, authKeyMode}}, err
	}
	if err != nil {
		return nil, nil, err
	}
	key, err := smallfile.ReadSecret(keyPath, authFileBytesMax)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is there, and its key %s is needed to issue more: %w", certPath, keyPath, plainPathError(err))
	}
	made, err := certs.ReadAuthority(cert, key)
	if err != nil {
		return nil, nil, fmt.Errorf("%s and %s: %w", certPath, keyPath, err)
	}
	return made, nil, nil
}

// hostsOf returns the names by which a node is reached.
func (c *authCertsCmd) hostsOf(node string) []string {
	return append([]string{node, "localhost", "127.0.0.1", "::1"}, c.Hosts...)
}

// issue returns the files of one certificate for the uses that wanted has.
func (c *authCertsCmd) issue(a *certs.Authority, name string, hosts []string, wanted certs.Wanted) ([]authFile, error) {
	wanted.Name, wanted.Hosts, wanted.Ends = name, hosts, time.Now().AddDate(0, 0, c.Days)
	cert, key, err := a.Issue(wanted)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of %s: %w", name, err)
	}
	path := filepath.Join(c.Dir, name)
	return []authFile{{path + ".crt", cert, authCertMode}, {path + ".key", key, authKeyMode}}, nil
}

// writeNew writes files that do not exist, into directories that do. If one of the files exists, it writes none.
func writeNew(files []authFile) error {
	for _, f := range files {
		if _, err := os.Lstat(f.path); err == nil {
			return fmt.Errorf("%s is there already, and is not replaced: remove it, or choose another directory or name", f.path)
		}
	}
	for _, f := range files {
		if err := writeNewFile(f); err != nil {
			return err
		}
	}
	return nil
}

// writeNewFile writes a file, which must not exist, and has its mode from the start.
func writeNewFile(f authFile) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	if err != nil {
		return err
	}
	_, err = out.Write(f.text)
	return errors.Join(err, out.Close())
}

// usage says how the files are used.
func (c *authCertsCmd) usage(nodes []string) (text string) {
	ca := filepath.Join(c.Dir, authorityFile+".crt")
	if len(nodes) > 0 {
		node := filepath.Join(c.Dir, nodes[0])
		text += fmt.Sprintf(`
a server with TLS on HTTP and NATS:

  carillon serve --http-tls-cert %[1]s.crt --http-tls-key %[1]s.key --listen-tls-cert %[1]s.crt --listen-tls-key %[1]s.key

with --http-tls-client-ca %[2]s and --listen-tls-ca %[2]s it verifies clients; in a cluster of embedded servers add:

  --cluster-tls-cert %[1]s-peer.crt --cluster-tls-key %[1]s-peer.key --cluster-tls-ca %[3]s
`, node, ca, filepath.Join(c.Dir, peersFile+".crt"))
	}
	flags := ""
	if len(c.Client) > 0 {
		client := filepath.Join(c.Dir, c.Client[0])
		flags = fmt.Sprintf(" --tls-cert %[1]s.crt --tls-key %[1]s.key", client)
	}
	return text + fmt.Sprintf("\na command then:\n\n  carillon status --server %s --tls-ca %s%s\n", serverTLS, ca, flags)
}

// serverTLS is the default address of a server with TLS on this machine.
const serverTLS = "tls://127.0.0.1:4222"
