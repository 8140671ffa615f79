// Package access says who may do what: it reads the file of rights, recognizes who asks, and authorizes requests.
//
// role.go has the roles, principal.go who has them, token.go the tokens by which a program shows who it is. text.go reads
// the file's YAML: most files by plain.go and plain_flow.go, which are fast, the others by the library. document.go walks
// the YAML, file.go checks what it says, table.go holds the result. keeper.go keeps the table and reads the file again when
// it changes. needs.go lists what each verb needs, and authorize.go decides. nats.go says to which account of the embedded
// NATS server a client belongs.
//
// The package knows no transport: each way in recognizes its callers by the table, and package api asks for each verb.
package access
