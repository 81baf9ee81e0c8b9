package backendtest_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestRawPlaysAndRecordsBytes(t *testing.T) {
	raw := backendtest.StartRaw(t,
		backendtest.Step{Reply: "HTTP/1.1 100 Continue\r\n\r\n"},
		backendtest.Step{Await: "end", Reply: "hTTp/9.9 weird\n\n", Close: true},
	)
	c := dial(t, raw.Addr)
	const sent = "GET  /two-spaces HTTP/1.1\r\nx:y\r\n\r\nbody end"
	if _, err := io.WriteString(c, sent); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if want := "HTTP/1.1 100 Continue\r\n\r\nhTTp/9.9 weird\n\n"; string(got) != want {
		t.Errorf("played %q, want %q", got, want)
	}
	if all := raw.Received(); len(all) != 1 || all[0] != sent {
		t.Errorf("recorded %q, want %q", all, sent)
	}
}

func TestRawReadsNextStepFromTheSameBytes(t *testing.T) {
	raw := backendtest.StartRaw(t, backendtest.Step{Reply: "1"}, backendtest.Step{Reply: "2", Close: true})
	c := dial(t, raw.Addr)
	if _, err := io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\n\r\n", 2)); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != "12" {
		t.Fatalf("pipelined heads got %q, %v", got, err)
	}
}

func TestRawEndsWithOpenConnections(t *testing.T) {
	var c net.Conn
	t.Run("inner test", func(inner *testing.T) {
		c = dial(t, backendtest.StartRaw(inner).Addr)
	})
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Fatalf("read %d bytes, %v from a backend whose test is over", n, err)
	}
}
