package interop_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	patience = 90 * time.Second // for a Java process to start on a busy machine
	look     = 200 * time.Millisecond
)

// need skips the test unless make interop has built what it needs.
func need(t *testing.T, files ...string) {
	t.Helper()
	if os.Getenv("INTEROP") == "" {
		t.Skip("only with make interop")
	}
	for _, name := range files {
		if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
			t.Skipf("%s is not built: JDK, Maven or npm are missing", name)
		}
	}
}

const (
	serverJar = "java/server/target/server.jar"
	clientJar = "java/client/target/client.jar"
	npmClient = "node/node_modules/eureka-js-client"
)

// process is a program that runs until the end of the test.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}

	mu    sync.Mutex
	lines []string
}

// start runs a program and keeps what it prints, for the log of a failed test.
func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), exited: make(chan struct{})} //nolint:noctx // ended by stop
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(out)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s %s printed:\n%s", name, args, strings.Join(p.printed(), "\n"))
		}
	})
	return p
}

func (p *process) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines, lines.Text())
		p.mu.Unlock()
	}
	_ = p.cmd.Wait()
	close(p.exited)
}

func (p *process) printed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// last is the last line that the program printed.
func (p *process) last() string {
	lines := p.printed()
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// kill ends the program without goodbye.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// stop ends it in order.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.exited
}

// free finds a port that nobody listens on, other than those taken. It is below the range of
// outgoing connections, one of which could get it before it is used.
func free(t *testing.T, taken ...int) int {
	t.Helper()
	const low, high, attempts = 10000, 20000, 100
	var config net.ListenConfig
	for range attempts {
		port := low + rand.IntN(high-low)
		if slices.Contains(taken, port) {
			continue
		}
		if l, err := config.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) time.Duration {
	t.Helper()
	began, tick := time.Now(), time.NewTicker(look)
	defer tick.Stop()
	for ; time.Since(began) < patience; <-tick.C {
		if holds() {
			return time.Since(began)
		}
	}
	t.Fatal("it never came to pass that", what)
	return 0
}

// fetch gives the body of an answer with status 200, "" for any other.
func fetch(url string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return ""
	}
	once := &http.Transport{DisableKeepAlives: true}
	res, err := once.RoundTrip(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}

// javaServer runs a real Eureka server that caches and evicts quickly, and gives its root.
func javaServer(t *testing.T) string {
	t.Helper()
	return javaServerAt(t, free(t))
}

// javaServerAt has settings of the caller's last.
func javaServerAt(t *testing.T, at int, more ...string) string {
	t.Helper()
	need(t, serverJar)
	port := strconv.Itoa(at)
	root := "http://127.0.0.1:" + port + "/eureka/"
	args := []string{
		"-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar", serverJar, "--server.address=127.0.0.1", "--server.port=" + port,
		"--spring.application.name=registry", "--spring.main.banner-mode=off",
		"--eureka.client.register-with-eureka=false", "--eureka.client.fetch-registry=false", "--eureka.client.service-url.defaultZone=" + root,
		"--eureka.server.response-cache-update-interval-ms=1000", "--eureka.server.eviction-interval-timer-in-ms=1000",
		"--eureka.server.enable-self-preservation=false",
	}
	start(t, "java", append(args, more...)...)
	eventually(t, "the Java server answers", func() bool { return fetch(root+"apps") != "" })
	return root
}

// javaService runs a Spring service that registers at a root.
func javaService(t *testing.T, id, root string) (p *process, base string) {
	t.Helper()
	need(t, clientJar)
	port := strconv.Itoa(free(t))
	p = start(
		t, "java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar", clientJar, "--server.address=127.0.0.1", "--server.port="+port,
		"--spring.application.name=users", "--spring.main.banner-mode=off", "--eureka.client.service-url.defaultZone="+root,
		"--eureka.instance.instance-id="+id, "--eureka.instance.hostname=127.0.0.1", "--eureka.instance.metadata-map.zone=rack-j",
		"--eureka.instance.lease-renewal-interval-in-seconds=1", "--eureka.instance.lease-expiration-duration-in-seconds=3",
		"--eureka.client.registry-fetch-interval-seconds=1",
	)
	base = fmt.Sprintf("http://127.0.0.1:%s/", port)
	eventually(t, "the Java service answers", func() bool { return fetch(base+"hello") == "hello from "+id })
	return p, base
}
