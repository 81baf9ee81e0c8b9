package upstream

import (
	"io"

	"github.com/gozer-gateway/gozer/internal/patient"
)

// duplex is what net/http gives as the body of a 101 response.
type duplex interface {
	io.Writer
	CloseWrite() error
}

// switched is the connection to a server that has switched protocols.
type switched struct {
	*patient.Body
	duplex
}
