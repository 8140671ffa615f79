package server

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/transfer"
)

// backupSession is a copy of the store that is being sent, with an offer that lacks its name and its files.
type backupSession = transfer.Session[client.BackupOffer]

// offerOf returns the offer of a session.
func offerOf(s *backupSession) client.BackupOffer {
	o := s.Info
	o.Session = s.Name
	for _, f := range s.Files {
		o.Files = append(o.Files, client.BackupFile(f))
	}
	return o
}

// serve answers the requests for a session until it ends. Each session has subjects of its own, so that a client whose
// session has ended learns that from NATS: there is no responder.
func (b *backups) serve(s *backupSession) error {
	for what, answer := range map[string]func(*inbox.Request){
		"piece.": func(m *inbox.Request) { b.answerPiece(s, m) },
		"close.": func(*inbox.Request) { b.sessions.Drop(s.Name) },
	} {
		sub, err := b.desk.Subscribe(client.BackupSubject(b.opts.prefix, b.opts.shard, what+s.Name), answer)
		if err != nil {
			b.sessions.Drop(s.Name)
			return err
		}
		s.OnEnd(func() { _ = sub.Unsubscribe() })
	}
	return nil
}

// answerPiece sends one piece of a file.
func (b *backups) answerPiece(s *backupSession, m *inbox.Request) {
	header := nats.Header{}
	piece, err := b.readPiece(s, m.Data)
	if err != nil {
		header.Set(client.BackupErrorHeader, err.Error())
	} else {
		header.Set(client.BackupSumHeader, transfer.Sum(piece))
	}
	_ = m.Answer(client.ReplyBackupPiece, header, piece) // the caller tries again
}

// readPiece reads what a request asks for.
func (b *backups) readPiece(s *backupSession, request []byte) ([]byte, error) {
	var r client.BackupPiece
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	piece, err := s.Read(r.File, r.Offset, min(backup.PieceBytes, b.conn.MaxPayload()-backupMsgReserve))
	if err != nil {
		return nil, refusal(err)
	}
	return piece, nil
}

// The reasons for which a client gets nothing.
var (
	errManyBackups     = fmt.Errorf("%d backups are on their way already, which is as many as there may be at a time; ask again later", backupsMost)
	errBackupsStopping = errors.New("the server is stopping")
	errNoBackupPiece   = errors.New("there is no such piece in this backup")
)

// refusal words an error for the caller that wants a backup.
func refusal(err error) error {
	many, isMany := errors.AsType[*transfer.ManyFilesError](err)
	switch {
	case errors.Is(err, transfer.ErrFull):
		return errManyBackups
	case errors.Is(err, transfer.ErrClosed):
		return errBackupsStopping
	case errors.Is(err, transfer.ErrNoPiece):
		return errNoBackupPiece
	case isMany:
		return fmt.Errorf("the store has %w; stop the server and copy its directory", many)
	}
	return err
}
