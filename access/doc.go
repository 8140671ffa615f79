// Package access says who may do what: it reads the file of rights, recognizes who asks, and authorizes requests.
//
// role.go has the roles, principal.go who has them, token.go the tokens by which a program shows who it is. document.go
// reads the file's YAML, file.go and limits.go check what it says, table.go holds the result. keeper.go keeps the table
// and reads the file again when it changes. authorize.go decides.
//
// The package knows no transport and no verb: package api says which role each verb needs, and each way in says who asks.
package access
