package registry_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/registry"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func TestHostileBodies(t *testing.T) {
	bomb := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><instance><app>&b;</app></instance>`
	fields := document(instance("a", "h:1"))
	for name, row := range map[string]struct {
		body    string
		headers []string
		want    int
	}{
		"too many bytes":           {strings.Replace(fields, `"hostName":"h"`, `"hostName":"`+strings.Repeat("h", 2<<20)+`"`, 1), []string{sendJSON}, 413},
		"too much metadata":        {document(instance("a", "h:1", func(i *eureka.Instance) { i.Metadata = map[string]string{"x": strings.Repeat("x", 100<<10)} })), []string{sendJSON}, 400},
		"zipped too many bytes":    {zipped(t, strings.Replace(fields, `"hostName":"h"`, `"hostName":"`+strings.Repeat("h", 64<<20)+`"`, 1)), []string{sendJSON, "Content-Encoding: gzip"}, 413},
		"zipped is fine":           {zipped(t, fields), []string{sendJSON, "Content-Encoding: gzip"}, 204},
		"not zipped":               {fields, []string{sendJSON, "Content-Encoding: gzip"}, 400},
		"another encoding":         {fields, []string{sendJSON, "Content-Encoding: br"}, 415},
		"deep":                     {`{"instance":` + strings.Repeat(`{"x":`, 100_000), []string{sendJSON}, 400},
		"deep, in what is unknown": {strings.Replace(fields, `{"instance":{`, `{"instance":{"x":`+strings.Repeat("[", 50_000)+strings.Repeat("]", 50_000)+",", 1), []string{sendJSON}, 400},
		"entities":                 {bomb, []string{"Content-Type: application/xml"}, 400},
		"eureka 89 a Java class":   {strings.Replace(fields, "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "void", 1), []string{sendJSON}, 204},
		"broken UTF-8":             {strings.Replace(fields, `"hostName":"h"`, "\"hostName\":\"h\xff\xfe\"", 1), []string{sendJSON}, 400},
		"nothing":                  {"", []string{sendJSON}, 400},
		"null":                     {`{"instance":null}`, []string{sendJSON}, 400},
		"a list":                   {`[{"instance":{}}]`, []string{sendJSON}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t)
				got := n.do(http.MethodPost, "/eureka/apps/A", row.body, row.headers...)
				tooLarge := row.want == 400 && got.status == 413
				if got.status != row.want && !tooLarge {
					t.Errorf("%d %.200s, want %d", got.status, got.body, row.want)
				}
				if got.status >= 400 && len(got.body) == 0 && got.status != 415 {
					t.Error("says nothing")
				}
				n.want(200, http.MethodGet, "/eureka/apps", "", asJSON)
				n.want(200, http.MethodGet, "/eureka/apps", "")
				pass(time.Second) // net/http lingers after a body that is too large
			})
		})
	}
}

// Every change makes a new list, and a reader that does not read keeps the one it has
// asked for. Together they may keep no more than the limit and one list, and not for
// long.
func TestSlowReadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, func(s *registry.Settings) { s.Limits.Unsent = 1 << 20 })
		large := func(k int) *eureka.Instance {
			return instance("a", "h:1", dirty(int64(100+k)), func(i *eureka.Instance) {
				i.Metadata = map[string]string{"x": strings.Repeat("x", 60<<10), "y": strconv.Itoa(k)}
			})
		}
		for k := range 4 {
			n.register(instance("b", strconv.Itoa(k), func(i *eureka.Instance) { i.Metadata = large(k).Metadata }))
		}
		shown := func() string {
			apps := n.list("/eureka/apps", "Cache-Control: no-cache")
			return apps.Applications[0].Instances[0].Metadata["y"]
		}
		for k := range 20 { // of 300 KiB each
			n.register(large(k))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+n.addr+"/eureka/apps", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept-Encoding", "identity")
			req.Header.Set("Accept", "application/json")
			res, err := n.client.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
		}
		if got := shown(); got != "3" {
			t.Errorf("list %s is shown, so as many are kept", got)
		}
		n.want(503, http.MethodGet, "/eureka/apps/B", "")
		n.want(200, http.MethodPut, "/eureka/apps/A/h:1", "")
		pass(time.Minute)
		if got := shown(); got != "19" {
			t.Errorf("list %s is shown after the slow readers' time", got)
		}
		n.want(200, http.MethodGet, "/eureka/apps/B", "")
	})
}

// Whoever looks into the log learns why, and strangers do not fill it.
func TestRefusalsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		n.want(400, http.MethodPost, "/eureka/apps/A", `{"instance":{"app":"A","port":`, sendJSON)
		n.want(400, http.MethodPost, "/eureka/apps/B", document(instance("a", "h:1")), sendJSON)
		for _, want := range []string{"application=A error=\"eureka: malformed", "application=B error=\"Mismatched appName"} {
			if !strings.Contains(n.log.String(), want) {
				t.Errorf("want %s in %s", want, n.log)
			}
		}
		for range 1000 {
			n.want(400, http.MethodPost, "/eureka/apps/A", "no JSON", sendJSON)
		}
		if got := strings.Count(n.log.String(), "registration refused"); got > 10 {
			t.Errorf("%d lines", got)
		}
		pass(5 * time.Second)
		n.want(400, http.MethodPost, "/eureka/apps/C", "no JSON", sendJSON)
		if !strings.Contains(n.log.String(), "application=C") {
			t.Error("nothing is logged any more")
		}
	})
}

func TestBounds(t *testing.T) {
	t.Run("applications", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Limits.Applications = 100 })
			refused := 0
			for k := range 3000 {
				i := instance(fmt.Sprintf("app%d", k), "h:1")
				if got := n.do(http.MethodPost, "/eureka/apps/"+i.App, document(i), sendJSON); got.status == 503 {
					refused++
					if got.body != "the registry is full: 100 applications" {
						t.Fatal(got.body)
					}
				}
			}
			if got := n.leases(); got.Applications != 100 || refused != 2900 {
				t.Errorf("%+v, %d refused", got, refused)
			}
			n.register(instance("app5", "h:2"))
			n.want(200, http.MethodPut, "/eureka/apps/APP5/h:1", "")
			n.want(200, http.MethodDelete, "/eureka/apps/APP6/h:1", "")
			n.register(instance("other", "h:1"))
		})
	})
	t.Run("instances", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Limits.Instances = 3 })
			all := n.fleet("a", 3)
			i := instance("a", "h:4")
			n.want(503, http.MethodPost, "/eureka/apps/A", document(i), sendJSON)
			n.register(all[0])
			if got := statuses(n.batch(eureka.ReplicationItem{AppName: "A", ID: "h:4", Action: eureka.Register, Instance: i})); got[0] != 503 {
				t.Errorf("a peer's: %d", got)
			}
		})
	})
	t.Run("metadata in small steps", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1"))
			refused := false
			for k := range 200 {
				got := n.do(http.MethodPut, fmt.Sprintf("/eureka/apps/A/h:1/metadata?k%d=%s", k, strings.Repeat("x", 1000)), "")
				refused = refused || got.status == 400
			}
			if !refused || len(n.get("A", "h:1").Metadata) > 65 {
				t.Error("it grows without end")
			}
		})
	})
	t.Run("changes of many that come and go", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Limits.Instances = 50 })
			for k := range 500 {
				i := instance("a", fmt.Sprintf("h:%d", k))
				n.register(i)
				n.want(200, http.MethodDelete, "/eureka/apps/A/"+i.ID, "")
			}
			if got := n.list("/eureka/apps/delta"); got.Len() != 50 {
				t.Errorf("%d changes are kept", got.Len())
			}
		})
	})
}

func TestPageIsEscaped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		const script = `<script>alert(1)</script>`
		n.register(instance("a", "h:1", func(i *eureka.Instance) {
			i.ID, i.StatusPageURL, i.Metadata = script, "javascript:alert(1)", map[string]string{"zone": script}
		}))
		n.register(instance("a", "h:2", func(i *eureka.Instance) { i.StatusPageURL = "https://h:2/info" }))
		n.register(instance("a", "h:3", func(i *eureka.Instance) { i.StatusPageURL = `https://h:3/" onclick="alert(1)` }))
		for _, path := range []string{"/", "/lastn"} {
			got := n.want(200, http.MethodGet, path, "")
			if strings.Contains(got.body, "<script") || strings.Contains(got.body, "javascript:") || strings.Contains(got.body, `onclick="`) || strings.Contains(got.body, "src=") {
				t.Error(got.body)
			}
			if policy := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
				t.Error(policy)
			}
		}
		if got := n.do(http.MethodGet, "/", "").body; !strings.Contains(got, `<a href="https://h:2/info" rel="noreferrer">h:2</a>`) {
			t.Error(got)
		}
	})
}

// A registry full of instances that are as large as allowed stays within what that
// makes, times a small factor.
func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var before, after runtime.MemStats
		n := start(t, func(s *registry.Settings) { s.Limits.Instances, s.Limits.Instance = 500, 4<<10 })
		runtime.GC()
		runtime.ReadMemStats(&before)
		for k := range 2000 {
			i := instance("a", fmt.Sprintf("h:%d", k), func(i *eureka.Instance) { i.Metadata = map[string]string{"x": strings.Repeat("x", 3<<10)} })
			n.do(http.MethodPost, "/eureka/apps/A", document(i), sendJSON)
		}
		n.list("/eureka/apps")
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 500*4<<10*5 {
			t.Errorf("grew by %d KiB", grown>>10)
		}
	})
}

// No path is decoded twice or cleaned on its way to what the registry serves, and names
// may hold slashes.
func TestC249Decoding(t *testing.T) {
	for _, path := range []string{
		"/eureka/%2561pps", "/%2565ureka/apps", "/eureka/..%2f..%2fetc%2fpasswd", "/eureka/../../../etc/passwd", "/eureka/apps/..%5c..%5c",
		"/eureka/apps/A/../../status", "/static/%252e%252e/", "/static/%252e%252e/%252e%252e/etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/eureka/%2e/apps",
		"/%256castn", "/lastn%2f", "/%2fstatus", "/eureka/apps/A%252F1", "/eureka/apps/%2e%2e/status", "/eureka/css/..%2f..%2fpage.html",
	} {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			if got := n.do(http.MethodGet, path, ""); got.status != http.StatusNotFound && got.status != http.StatusBadRequest || strings.Contains(got.body, "root:") {
				t.Errorf("%s: %d %.200s", path, got.status, got.body)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		n.do(http.MethodPost, "/eureka/apps/A%2F1", document(instance("A/1", "h:1")), sendJSON)
		if got := n.do(http.MethodGet, "/eureka/apps/A%2F1", ""); got.status != http.StatusOK {
			t.Errorf("a name with a slash: %d %.200s", got.status, got.body)
		}
		if got := n.do(http.MethodGet, "/eureka/apps/A%252F1", ""); got.status != http.StatusNotFound {
			t.Errorf("decoded twice: %d", got.status)
		}
	})
}
