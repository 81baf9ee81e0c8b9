package e2e_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// Both lengths are over 2 GiB, where numbers of 32 bits end, and no multiple of a buffer.
const (
	largeBody   = 2<<30 + 12345
	allowedRise = 64 << 20
)

// stream is largeBody bytes that are not all alike.
type stream struct {
	left  int64
	block []byte
}

func newStream() *stream {
	block := make([]byte, 251<<10) // no power of two
	for i := range block {
		block[i] = byte(i * i >> 7)
	}
	return &stream{largeBody, block}
}

func (s *stream) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	at := (largeBody - s.left) % int64(len(s.block))
	n := copy(p, s.block[at:])
	n = int(min(int64(n), s.left))
	s.left -= int64(n)
	return n, nil
}

// summary tells two bodies apart.
func summary(r io.Reader) (string, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.CopyBuffer(sum, onlyReader{r}, make([]byte, 256<<10))
	return fmt.Sprintf("%d bytes, sum %x", n, sum.Sum32()), err
}

// onlyReader hides WriteTo, which would choose a buffer of its own.
type onlyReader struct{ io.Reader }

// This test is not parallel: the parallel ones begin when it is over, so that neither
// disturbs the timing of the other.
func TestShowLargeBodies(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("moves 8 GiB")
	case race.Enabled:
		t.Skip("the race detector has memory of its own")
	case runtime.GOOS != "linux":
		t.Skip("reads /proc")
	}
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			got, err := summary(r.Body)
			fmt.Fprintf(w, "%s, announced %d, error %v", got, r.ContentLength, err)
		default:
			if r.URL.Path == "/announced" {
				w.Header().Set("Content-Length", strconv.Itoa(largeBody))
			}
			_, _ = io.CopyBuffer(struct{ io.Writer }{w}, newStream(), make([]byte, 256<<10)) // the gateway would tell
		}
	}))
	g := startGateway(t, fmt.Sprintf(`
zuul.routes:
  service: {path: /service/**, retryable: true}
  url: {path: /url/**, url: "http://%s"}
service.ribbon: {listOfServers: "%[1]s", MaxAutoRetries: 1, OkToRetryOnAllOperations: true}
# The budget of a request bounds its upload.
hystrix.command.service.execution.timeout.enabled: false
`, b.Addr))
	want, err := summary(newStream())
	if err != nil {
		t.Fatal(err)
	}
	g.Do(http.MethodPost, "/service/warm", "up").wantStatus(t, http.StatusOK)
	before := g.memory("VmRSS")

	t.Run("C064 C065 upload with its length to a service that may be asked again", func(t *testing.T) {
		g.upload(t, "/service/x", largeBody, fmt.Sprintf("%s, announced %d, error <nil>", want, int64(largeBody)))
	})
	t.Run("C064 upload in chunks to a URL", func(t *testing.T) {
		g.upload(t, "/url/x", -1, want+", announced -1, error <nil>")
	})
	t.Run("C066 download with its length from a URL", func(t *testing.T) {
		g.download(t, "/url/announced", largeBody, want)
	})
	t.Run("download in chunks from a service", func(t *testing.T) {
		g.download(t, "/service/x", -1, want)
	})
	if rise := g.memory("VmHWM") - before; rise > allowedRise {
		t.Errorf("the gateway grew by %d MiB", rise>>20)
	}
}

func (g *gateway) upload(t *testing.T, target string, length int64, want string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, g.URL(target), newStream())
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = length
	a := g.transfer(t, req)
	defer a.Body.Close()
	got, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK || string(got) != want {
		t.Errorf("status %d, %v: %s, want %s", a.StatusCode, err, got, want)
	}
}

func (g *gateway) download(t *testing.T, target string, length int64, want string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, g.URL(target), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	a := g.transfer(t, req)
	defer a.Body.Close()
	got, err := summary(a.Body)
	if err != nil || a.StatusCode != http.StatusOK || got != want {
		t.Errorf("status %d, %v: %s, want %s", a.StatusCode, err, got, want)
	}
	if a.ContentLength != length {
		t.Errorf("announced %d bytes, want %d", a.ContentLength, length)
	}
}

// transfer sends a request without the time limit of other tests.
func (g *gateway) transfer(t *testing.T, req *http.Request) *http.Response {
	t.Helper()
	rt := &http.Transport{DisableKeepAlives: true, WriteBufferSize: 128 << 10, ReadBufferSize: 128 << 10}
	t.Cleanup(rt.CloseIdleConnections)
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// memory reads one of the sizes in /proc/<pid>/status, in bytes.
func (g *gateway) memory(name string) int64 {
	g.tb.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(g.cmd.Process.Pid), "status"))
	if err != nil {
		g.tb.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), name+":")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kilobytes, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		g.tb.Fatal(err)
	}
	return kilobytes << 10
}
