package main

// authCmd groups the commands about who may do what.
type authCmd struct {
	Token authTokenCmd `cmd:"" help:"Draw a token for a program, and print the line for the file of rights."`
	Check authCheckCmd `cmd:"" help:"Check a file of rights."`
	Can   authCanCmd   `cmd:"" help:"Say whether a principal may do something; exit status 1 if it may not."`
	Certs authCertsCmd `cmd:"" help:"Make small certificate authorities, and certificates for trying out TLS."`

	NATSTemplate authNATSCmd `cmd:"" name:"nats-template" help:"Print users, permissions and accounts of tenants for NATS servers of your own."`
}

// Help is what `carillon auth --help` says besides the commands.
func (*authCmd) Help() string {
	return `Examples:

  carillon auth token ci --out ci.token
  carillon auth check /etc/carillon/auth.yaml
  carillon auth can ci jobs.delete --tenant billing --auth /etc/carillon/auth.yaml
  carillon auth certs ./tls --nodes a,b,c --client ops
  carillon auth nats-template --tenant billing,shop`
}
