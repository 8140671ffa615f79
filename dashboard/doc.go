// Package dashboard serves the web pages of a server. The server makes them from requests of package
// client. All pages and actions work without JavaScript. A small script only replaces the parts of a
// page that change, as the server sends them.
//
// A page is a function that reads the data it needs and returns a view. The view names its template, and
// those templates within it that are live. The stream of a page calls the same function again and sends
// the live templates whose text has changed. So the first page and its updates always come from the same
// code.
//
// The package has no authentication: every client that can connect to the port may do everything.
package dashboard
