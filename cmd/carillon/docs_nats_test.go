package main

import (
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
)

// natsMain is the part of the nats program that documents use, for machines without it: req SUBJECT BODY, which fails if
// the reply is an error, and sub SUBJECT, which ends with the first message.
func natsMain() {
	if err := natsCommand(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "nats:", err)
		os.Exit(1)
	}
}

func natsCommand(args []string) error {
	nc, err := nats.Connect(os.Getenv("NATS_URL"))
	if err != nil {
		return err
	}
	defer nc.Close()
	switch {
	case len(args) == 3 && args[0] == "req":
		reply, err := nc.Request(args[1], []byte(args[2]), patience)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", reply.Data)
		if text := reply.Header.Get("Nats-Service-Error"); text != "" {
			return fmt.Errorf("%s", text)
		}
		return nil
	case len(args) == 2 && args[0] == "sub":
		sub, err := nc.SubscribeSync(args[1])
		if err != nil {
			return err
		}
		message, err := sub.NextMsg(docPageTime)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s %s\n", time.Now().Format(time.TimeOnly), message.Subject, message.Data)
		return nil
	}
	return fmt.Errorf("this stand-in does not know %q", args)
}
