package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// lone is "gateway registry" as startRegistry starts it.
func lone() start {
	return start{verb: "registry", yaml: small, args: []string{"--set", "eureka.server.port=0", "--set", "eureka.server.address=127.0.0.1"}}
}

// wantPart sends a request and wants 200 with some words in the answer.
func wantPart(t *testing.T, client *http.Client, method, url string, words ...string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	a, err := read(res)
	if err != nil {
		return err
	}
	for _, word := range words {
		if !strings.Contains(a.Body, word) {
			return fmt.Errorf("status %d, no %s in %.300q", a.Status, word, a.Body)
		}
	}
	if a.Status != http.StatusOK {
		return fmt.Errorf("%s %s: status %d", method, url, a.Status)
	}
	return nil
}

// A registry alone is replaced under load. Its leases go over: no heartbeat is refused, on kept
// connections or new ones, no list lacks an instance, and whoever is pushed to hears of what the new
// process is told.
func TestHandOverOfTheRegistryUnderLoad(t *testing.T) {
	t.Parallel()
	s := lone()
	s.yaml += "gateway.shutdown.idle-grace: 5s\n" // for clients that pause
	s.program = ownProgram(t)
	g := s.launch(t)
	url := "http://" + g.Log.address(t, "registry", g.ended) + "/eureka/"
	user := startUser(t, url)
	edge := startGateway(t, "eureka.client: {service-url.defaultZone: \""+url+"\", register-with-eureka: false}\n")
	eventually(t, "the instance is known", func() bool { return len(edge.servers("users")) == 1 })
	once := newClient(t)
	once.Transport.(*http.Transport).DisableKeepAlives = true
	var loads []*load
	for _, client := range []*http.Client{newClient(t), once} {
		loads = append(loads,
			startLoadOf(t, func() error { return wantPart(t, client, http.MethodGet, url+"apps", "USERS", user.Addr) }),
			startLoadOf(t, func() error { return wantPart(t, client, http.MethodPut, url+"apps/USERS/"+user.Addr) }))
	}
	progress := func() {
		for _, l := range loads {
			l.Progress(100)
		}
	}
	progress()
	g.handOver(t)
	wantExit(t, g.ExitCode(), 0)
	g.wantsLine(t, "shutdown: done, the successor goes on")
	g.wantsLine(t, "leases of the predecessor taken over")
	progress()
	startUser(t, url)
	eventually(t, "the gateway hears of a second instance", func() bool { return len(edge.servers("users")) == 2 })
	for _, l := range loads {
		t.Logf("%d requests", l.Stop())
	}
}

// The embedded registry goes over with the gateway.
func TestHandOverOfTheEmbeddedRegistry(t *testing.T) {
	t.Parallel()
	g, _ := start{yaml: "eureka: {server: {enabled: true, port: 0, address: 127.0.0.1}, instance.instance-id: front-1}\n" +
		"spring.application.name: front\n"}.installed(t)
	url := "http://" + g.Log.address(t, "registry", g.ended) + "/eureka/"
	user := startUser(t, url)
	eventually(t, "the instance is found", func() bool { a, err := g.tryGet(g.URL("/users/x")); return err == nil && a.Status == http.StatusOK })
	l := startLoad(t, g.URL("/users/x"), http.MethodGet)
	g.handOver(t)
	wantExit(t, g.ExitCode(), 0)
	if err := wantPart(t, newClient(t), http.MethodGet, url+"apps", "USERS", user.Addr); err != nil {
		t.Error(err)
	}
	l.Progress(50)
	l.Stop()
}

func TestSocketActivationOfTheRegistry(t *testing.T) {
	t.Parallel()
	socket, file := passed(t)
	systemd := newManager(t)
	s := lone()
	s.passed, s.env = []*os.File{file}, []string{"LISTEN_FDS=1", "LISTEN_FDNAMES=registry", "NOTIFY_SOCKET=" + systemd.path}
	g := s.activated(t)
	if got := g.Log.address(t, "registry", g.ended); got != socket.String() {
		t.Errorf("listens at %s, want %s", got, socket)
	}
	systemd.hears("READY=1")
	systemd.followsLife(g)
}
