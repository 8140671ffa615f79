package bus

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/inbox"
)

// Requests of tenants to the NATS server itself. It would answer those about connections in the line in which it has the
// news of other servers, and who a client is without any bound. So they come to the guard, as ofSystem.ACCOUNT.WHAT behind
// its ask: the server itself puts the account into the subject.
const (
	ofSystem  = "SYS"
	askedUser = "INFO"
)

// guardSystem leads these requests to the guard, apart from those of Carillon's own account.
func guardSystem(system *server.Account, ask string) (err error) {
	for what, begin := range map[string]string{"CONNZ": "$SYS.REQ.ACCOUNT.", "STATZ": "$SYS.REQ.ACCOUNT.", askedUser: "$SYS.REQ.USER."} {
		own := begin + server.DEFAULT_GLOBAL_ACCOUNT + "." + what
		err = errors.Join(err, system.AddMapping(own, own), system.AddMapping(begin+"*."+what, ask+ofSystem+".{{wildcard(1)}}."+what))
	}
	return err
}

// accountOf returns the account that asks the server itself.
func accountOf(what string) string {
	what = strings.TrimPrefix(what, ofSystem+".")
	return what[:max(0, strings.LastIndexByte(what, '.'))]
}

// clientOf returns the number of the client that sends a request, or 0 if it is not known: for CONNZ and STATZ the server
// does not name it, and what stands there a client may have written.
func clientOf(j jsJob) uint64 {
	values := j.Header[inbox.SenderHeader]
	if j.kind == figuresRequest || len(values) != 1 {
		return 0
	}
	var info server.ClientInfo
	_ = json.Unmarshal([]byte(values[0]), &info) // it stays 0
	return info.ID
}

// answerUser says who the caller is, as the server would.
func (g *jsGuard) answerUser(j jsJob) {
	_, user, err := j.Sender()
	if err != nil {
		g.deny(j, err)
		return
	}
	info := server.UserInfo{UserID: user, Account: j.account, AccountName: j.account, Permissions: g.doorman.permissionsOf(clientOf(j))}
	body, err := json.Marshal(server.ServerAPIResponse{Data: info, Server: &server.ServerInfo{
		Name: g.server.Name(), ID: g.server.ID(), Cluster: g.server.ClusterName(), Version: server.VERSION, JetStream: true, Time: time.Now().UTC(),
	}})
	if err == nil {
		_ = j.Forward(nil, body) // the caller tries again
	}
}
