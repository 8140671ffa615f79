// Package apierr is the errors that callers of the API see: a code for programs, the field that is wrong, and a text
// that says what would be right. Packages below the API return them where they refuse what a caller sent; every other
// error is internal, and [From] hides its text.
package apierr
