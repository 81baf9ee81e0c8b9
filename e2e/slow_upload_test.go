package e2e_test

import (
	"bufio"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// Clients that do not send what they have announced use up the budget of their
// requests. That is nobody's failure but theirs: they get 408 at the deadline, the
// circuit stays closed, and the permits are back. net/http's server goes on waiting for the
// body before it lets an answer out.
func TestUploadsThatStall(t *testing.T) {
	nativeOnly(t)
	t.Parallel()
	for name, length := range map[string]int{"short body": 1000, "long body": 1_000_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := backendtest.Start(t, backendtest.Echo("users"))
			g := startGateway(t, fmt.Sprintf("zuul.routes.users: /users/**\nusers.ribbon.listOfServers: %s\n", b.Addr)+
				"hystrix.command.users: {execution.isolation.thread.timeoutInMilliseconds: 4000, circuitBreaker.requestVolumeThreshold: 5}\n")
			begin := time.Now()
			var clients sync.WaitGroup
			for range 20 {
				clients.Go(func() {
					c := dial(t, g.Proxy)
					write(t, c, lines("POST /users/up HTTP/1.1", "Host: g", fmt.Sprintf("Content-Length: %d", length))+"abc")
					nextAnswer(t, bufio.NewReader(c), http.MethodPost).wantStatus(t, http.StatusRequestTimeout)
				})
			}
			clients.Wait()
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("freed after %s, the budget is 4 s", took)
			}
			eventually(t, "the health of the circuit has been judged", func() bool {
				return time.Since(begin) > 5*time.Second
			})
			g.Get("/users/1").wantStatus(t, http.StatusOK)
			if g.Log.Count("to=OPEN") != 0 {
				t.Error("the circuit has opened")
			}
		})
	}
}

// An upstream that hangs up or talks nonsense while the client is still sending has
// failed, and not the client.
func TestUpstreamFailsDuringAnUpload(t *testing.T) {
	nativeOnly(t)
	t.Parallel()
	for _, kind := range kinds {
		for how, answer := range map[string]backendtest.Step{
			"hangs up": {Close: true},
			"nonsense": {Reply: "SSH-2.0-OpenSSH\r\n", Close: true},
		} {
			for _, framing := range []string{"Content-Length: 30000", "Transfer-Encoding: chunked"} {
				t.Run(kind+", "+how+", "+framing, func(t *testing.T) {
					t.Parallel()
					raw := backendtest.StartRaw(t, answer)
					g := startGateway(t, bothYAML(raw.Addr))
					c := dial(t, g.Proxy)
					write(t, c, lines("POST /"+kind+"/x HTTP/1.1", "Host: a", framing))
					write(t, c, "5\r\nhello\r\n")
					nextFinal(t, bufio.NewReader(c), http.MethodPost).wantStatus(t, http.StatusBadGateway)
				})
			}
		}
	}
}
