// Command cron runs one crontab under the cron of Debian and under Carillon at the same time, and compares what the two
// did: the starts, the overlaps, the surroundings of the commands, and their outputs. It needs Linux, root, and cron
// (apt-get install cron).
//
//	go run ./bench/cron --binary bin/carillon --for 1h --seed 1
//
// The commands of the table are this program under the name act (act.go): each notes on a file of its job when it began
// and ended, as whom, with which environment and input, and what it printed. The files are the witness; what Carillon
// says of its runs is compared with them.
//
// table.go draws the table. cage.sh starts cron in namespaces of its own, in which it sees the table alone and none of
// the machine's crontabs; rig.go starts both sides and reads what they left, and compare.go compares it. Both sides have
// the same table, byte for byte: the directory of notes is another one in cron's namespace.
package main
