// Package terminaltest opens real terminals for tests. It works on Linux; elsewhere it is empty.
package terminaltest
