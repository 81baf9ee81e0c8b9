package certs

import (
	"crypto/tls"
	"time"
)

// Settings say what a listener shows and asks for.
type Settings struct {
	// Pairs are the certificates. One whose Default is set is for clients that ask for no
	// name or for one that nobody has; without one they are refused.
	Pairs []Pair

	// ClientAuth is what is asked of clients; Authorities is the file of those whose
	// certificates count. Both are zero for nothing.
	ClientAuth  tls.ClientAuthType
	Authorities string

	// MinVersion and MaxVersion are those of package tls; MaxVersion 0 means the newest.
	MinVersion, MaxVersion uint16

	Ciphers   []uint16 // up to TLS 1.2; nil means Go's choice
	Protocols []string // for ALPN

	// TicketRotation is the age at which the key of session tickets is replaced.
	TicketRotation time.Duration

	// Warning is how long before its end a certificate is warned of.
	Warning time.Duration
}

// Pair names the files of a certificate and its key.
type Pair struct {
	Name    string // for messages: the keys of the configuration begin so
	Default bool
	// Certificate and Key are files of PEM.
	Certificate, Key string
	// Hosts are the names that it is for, "*.example.com" for one label; nil means those
	// that it names itself.
	Hosts []string
}
