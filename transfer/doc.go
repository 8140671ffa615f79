// Package transfer moves a copy of a store from one process to another, as its files, in pieces. Checkpoints for nodes
// that join and backups for clients both travel in this way.
//
// The side that sends has [Sessions]: each is one copy in a directory of its own. The side that receives has a [Source]:
// it requests one piece after the other and keeps the state of the transfer, so it can repeat a piece, and it can
// continue after its own restart. The files of a copy do not change.
//
//	sender      Sessions.Make --> Session.Read          (sessions, session)
//	                                   |  piece, Sum
//	receiver                           +--> Source.Pieces --> Source.Receive     (source, receive)
//
// The package knows no connection: subjects, messages and their bounds belong to its callers. They call Make and Read
// from the handlers of their requests, and send their requests in [Source].Ask.
package transfer
