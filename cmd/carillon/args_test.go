package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// notSecret are the flags with texts that are no address and no secret: names, subjects, files, settings of a job. A new
// flag with a text stands here, or has the tag "secret". payload, header and the texts of reports are what jobs and their
// workers say: docs/credentials.md tells how to keep secrets out of them.
var notSecret = strings.Fields(`
	group config data listen http-listen http-hosts auth prefix inbox-prefix inbox creds nkey token-file tls-cert tls-key tls-ca
	http-tls-cert http-tls-key http-tls-client-ca listen-tls-cert listen-tls-key listen-tls-ca cluster-tls-cert cluster-tls-key cluster-tls-ca
	cluster-name node zone cluster-listen cluster-password-file durability profile-listen webhook-ca secrets-dir tzdata events-stream log-format log-level
	color context tenant by output set file timezone schedule exclude overlap missed label description payload header
	secret-header secret-url sign client-cert method reason idempotency-key to from job status error result
	contains last-run name-prefix crontab give-up completion action hosts nodes client out allow state host user
`)

// TestNoSecretOnTheCommandLine: each flag that takes a text refuses a URL with a password there, with status 2 and what to
// use instead, unless it is known to take no address. The same value is good in a variable.
func TestNoSecretOnTheCommandLine(t *testing.T) {
	const planted = "nats://ann:planted@127.0.0.1:1"
	flags, tagged := allFlags(testParser(t).Model.Node), map[string]bool{}
	for _, flag := range flags {
		kind := flag.Value.Target.Kind()
		isText := kind == reflect.String || kind == reflect.Slice && flag.Value.Target.Type().Elem().Kind() == reflect.String
		if !isText || slices.Contains(notSecret, flag.Name) {
			continue
		}
		tagged[flag.Name] = true
		for _, args := range [][]string{{"--" + flag.Name + "=" + planted}, {"x", "--" + flag.Name, "a", "--" + flag.Name, planted, "--unknown"}} {
			err := refuseSecretsInArgs(flags, args)
			if err == nil || !strings.Contains(err.Error(), "--"+flag.Name+" has ") || strings.Contains(err.Error(), "planted") {
				t.Errorf("--%s is not refused with a password on the command line (%v): give it the tag secret, or name it in notSecret", flag.Name, err)
			}
		}
		if flag.Tag.Get("instead") == "" {
			t.Errorf("--%s does not say what to use instead", flag.Name)
		}
	}
	for _, name := range notSecret {
		if !slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == name }) {
			t.Errorf("no command has --%s any more", name)
		}
	}
	for _, name := range []string{"server", "token", "nats", "routes", "traces", "cluster-password", "target"} {
		if !tagged[name] {
			t.Errorf("--%s is not among the flags with secrets", name)
		}
	}
}

// TestSecretsInArgs: what each kind of flag refuses.
func TestSecretsInArgs(t *testing.T) {
	flags := allFlags(testParser(t).Model.Node)
	for line, refused := range map[string]bool{
		"serve --cluster-password planted": true, "serve --cluster-password=": false, "serve --cluster-password-file f": false,
		"job list --token planted": true, "job list --token-file f": false,
		"job list --server planted@127.0.0.1": true, "job list --server nats://127.0.0.1,x@127.0.0.2": true, "job list --server https://a/b": false,
		"serve --traces http://ann:planted@h:4318": true, "serve --traces http://h:4318/x@y": true, "serve --routes a:1,x:planted@b:1": true,
		"job put a --target https://ann:planted@h/": true, "job put a -t https://planted@h/": true, "job put a -thttps://planted@h/": true,
		"job put a --target https://h/?mail=a@b": false, "job put a -t nats:a@b": false,
		"job trigger a --by ann@host": false, "run report a failed -- --token planted": false,
	} {
		if err := refuseSecretsInArgs(flags, strings.Fields(line)); (err != nil) != refused {
			t.Errorf("%s: %v; refused is to be %t", line, err, refused)
		}
	}
}
