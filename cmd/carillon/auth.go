package main

// authCmd groups the commands about who may do what.
type authCmd struct {
	Certs authCertsCmd `cmd:"" help:"Make a small certificate authority, and certificates for trying out TLS."`
}

// Help is what `carillon auth --help` says besides the commands.
func (*authCmd) Help() string {
	return `Examples:

  carillon auth certs ./tls --nodes a,b,c --client ops`
}
