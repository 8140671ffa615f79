// Package apierr is the errors that callers of the API see: a code for programs, the field that is wrong, and a text
// that says what would be right. Packages below the API return them where they refuse what a caller sent; every other
// error is internal, and [From] hides its text.
//
// error.go has the error and its codes, advice.go guesses what a caller meant, text.go clips and places what a
// message quotes. The package knows no job and no transport: which status a code has over HTTP is decided by package
// api.
package apierr
