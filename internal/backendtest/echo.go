package backendtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// Echoed is a request as the backend received it.
type Echoed struct {
	Backend          string      `json:"backend"`          // the name given to Echo
	Method           string      `json:"method"`           //
	Target           string      `json:"target"`           // the request target, byte by byte
	Proto            string      `json:"proto"`            // HTTP/1.1
	Host             string      `json:"host"`             //
	Header           http.Header `json:"header"`           // without Host
	Trailer          http.Header `json:"trailer"`          //
	ContentLength    int64       `json:"contentLength"`    // as announced; -1 if not
	TransferEncoding []string    `json:"transferEncoding"` //
	BodyLength       int64       `json:"bodyLength"`       // as read
	BodySHA256       string      `json:"bodySha256"`       // in hex
}

// Echo answers 200 with the request as JSON, an Echoed, and with its own name in
// X-Backend. It reads the body first and keeps none of it.
func Echo(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		length, err := io.Copy(sum, r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the client stopped in the middle of its body
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Backend", name)
		_ = json.NewEncoder(w).Encode(Echoed{ // fails only when the client has left
			Backend: name, Method: r.Method, Target: r.RequestURI, Proto: r.Proto, Host: r.Host,
			Header: r.Header, Trailer: r.Trailer,
			ContentLength: r.ContentLength, TransferEncoding: r.TransferEncoding,
			BodyLength: length, BodySHA256: hex.EncodeToString(sum.Sum(nil)),
		})
	})
}

// ReadEcho decodes the answer of Echo.
func ReadEcho(tb testing.TB, body io.Reader) Echoed {
	tb.Helper()
	var e Echoed
	if err := json.NewDecoder(body).Decode(&e); err != nil {
		tb.Fatalf("not an echo: %v", err)
	}
	return e
}
