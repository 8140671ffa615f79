package job

import "strings"

// commonWords are words that stand in many URLs, headers and errors, and that say nothing about a credential. Alone
// they are not masked, so that errors stay readable: without the list, a URL with /webhook would hide "webhook not
// found". Together with other parts of a credential they are masked. A word that could be a name has no place here.
var commonWords = setOf(`http https www com org net json xml html text form api apis rest rpc v1 v2 v3 v4 get post put
	hook hooks webhook webhooks callback callbacks event events service services message messages notify notification
	notifications request response status error errors invalid unknown missing found token tokens key keys secret auth
	authorization bearer basic digest whsec password user id name code type format url path query host and for from in is no
	not of on or the to with true false null`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
