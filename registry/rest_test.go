package registry_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/registry"
)

func TestRegistration(t *testing.T) {
	without := func(field, with string) string {
		return strings.Replace(document(instance("a", "h:1")), field, with, 1)
	}
	const myOwn = `"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}`
	for name, row := range map[string]struct {
		path, body, contentType string
		status                  int
		says                    string
	}{
		"eureka 1 a valid instance":          {"a", document(instance("a", "h:1")), "application/json", 204, ""},
		"eureka 2 neither id nor host":       {"A", strings.Replace(without(`"instanceId":"h:1"`, `"instanceId":""`), `"hostName":"h"`, `"hostName":""`, 1), "application/json", 400, "Missing instanceId"},
		"eureka 3 no host":                   {"A", without(`"hostName":"h"`, `"hostName":""`), "application/json", 400, "Missing hostname"},
		"eureka 3 no address":                {"A", without(`"ipAddr":"10.0.0.1"`, `"ipAddr":""`), "application/json", 400, "Missing ip address"},
		"eureka 4 no application":            {"A", without(`"app":"A"`, `"app":""`), "application/json", 400, "Missing appName"},
		"eureka 4 another application":       {"B", document(instance("a", "h:1")), "application/json", 400, "Mismatched appName, expecting B but was A"},
		"eureka 5 no data centre":            {"A", without(","+myOwn, ""), "application/json", 400, "Missing dataCenterInfo"},
		"eureka 5 a data centre without one": {"A", without(myOwn, `"dataCenterInfo":{"@class":"com.netflix.appinfo.MyDataCenterInfo","name":null}`), "application/json", 400, "Missing dataCenterInfo Name"},
		"eureka 7 no JSON":                   {"A", "this is no JSON", "application/json", 400, `{"error": "cannot parse request body"}`},
		"eureka 7 no XML":                    {"A", "this is no XML", "application/xml", 400, "<error><message>cannot parse request body</message></error>"},
		"eureka 7 no type means XML":         {"A", document(instance("a", "h:1")), "", 400, "<error><message>cannot parse request body</message></error>"},
		"eureka 90 a charset that is spoken": {"A", document(instance("a", "h:1")), "application/json; charset=UTF-8", 204, ""},
		"eureka 90 a charset that is none":   {"A", document(instance("a", "h:1")), "application/json; charset=ISO-8859", 415, ""},
		"no media type of ours":              {"A", document(instance("a", "h:1")), "text/plain", 415, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t)
				got := n.want(row.status, http.MethodPost, "/eureka/apps/"+row.path, row.body, "Content-Type: "+row.contentType)
				if got.body != row.says {
					t.Errorf("says %q, want %q", got.body, row.says)
				}
				if registered := n.leases().Instances == 1; registered != (row.status == 204) {
					t.Errorf("registered: %v", registered)
				}
			})
		})
	}
}

func TestAmazonInstance(t *testing.T) {
	amazon := func(i *eureka.Instance) { i.DataCenter = eureka.DataCenter{Name: eureka.Amazon} }
	t.Run("eureka 6 the id is filled in", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", amazon))
			if got := n.get("a", "h:1").DataCenter.Metadata["instance-id"]; got != "h:1" {
				t.Errorf("instance-id %q", got)
			}
		})
	})
	t.Run("eureka 6 or asked for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Leases.ValidateDataCenterID = true })
			n.want(400, http.MethodPost, "/eureka/apps/A", document(instance("a", "h:1", amazon)), sendJSON)
		})
	})
}

func TestApplicationsAreFound(t *testing.T) {
	t.Run("eureka 8 whatever the case", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.want(204, http.MethodPost, "/eureka/apps/billing", document(instance("billing", "h:1")), sendJSON)
			for _, path := range []string{"/eureka/apps/BILLING", "/eureka/apps/billing", "/eureka/apps/billing/", "/eureka/v2/apps/Billing", "/v2/apps/billing", "/eureka/V2/apps/billing", "/EUREKA/apps/billing"} {
				if got := n.want(200, http.MethodGet, path, "", asJSON); !strings.Contains(got.body, `"name":"BILLING"`) {
					t.Errorf("%s: %s", path, got.body)
				}
			}
		})
	})
	t.Run("eureka 9 full and compact", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1"))
			full, compact := n.want(200, http.MethodGet, "/eureka/apps/A", "", asJSON).body, n.want(200, http.MethodGet, "/eureka/apps/A", "", asJSON, "X-Eureka-Accept: COMPACT").body
			for _, word := range []string{"metadata", "leaseInfo"} {
				if !strings.Contains(full, word) || strings.Contains(compact, word) {
					t.Errorf("%s: full %s\ncompact %s", word, full, compact)
				}
			}
		})
	})
	t.Run("eureka 10 not at all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.want(404, http.MethodGet, "/eureka/apps/NOSUCH", "", asJSON)
			n.register(instance("nosuch", "h:1"))
			n.want(200, http.MethodGet, "/eureka/apps/NOSUCH", "", asJSON)
			n.want(200, http.MethodDelete, "/eureka/apps/NOSUCH/h:1", "")
			n.want(404, http.MethodGet, "/eureka/apps/NOSUCH", "", asJSON)
		})
	})
	t.Run("eureka 11 and 12 compressed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1"))
			for _, extra := range []string{"X-Eureka-Accept: full", askCompact} {
				got := n.want(200, http.MethodGet, "/eureka/apps", "", asJSON, "Accept-Encoding: gzip", extra)
				if got.header.Get("Content-Encoding") != "gzip" || got.header.Get("Content-Type") != "application/json" {
					t.Errorf("headers %v", got.header)
				}
				if diff := cmp.Diff([]string{"A/h:1 UP"}, ids(n.list("/eureka/apps", "Accept-Encoding: gzip", extra))); diff != "" {
					t.Error(diff)
				}
				if strings.Contains(got.body, "leaseInfo") == (extra == askCompact) {
					t.Errorf("%s: %s", extra, got.body)
				}
			}
		})
	})
	t.Run("not compressed for whoever says so", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			for accept, want := range map[string]string{"gzip;q=0": "", "identity, gzip; q=0.0": "", "deflate, gzip;q=0.1": "gzip", "x-gzip": "gzip", "identity": ""} {
				if got := n.want(200, http.MethodGet, "/eureka/apps", "", "Accept-Encoding: "+accept).header.Get("Content-Encoding"); got != want {
					t.Errorf("%s: got %q", accept, got)
				}
			}
		})
	})
	t.Run("eureka 13 XML unless JSON is asked for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", status(eureka.OutOfService)))
			for _, accept := range []string{"", "*/*", "application/xml", "text/html, application/xml;q=0.9"} {
				got := n.want(200, http.MethodGet, "/eureka/apps", "", "Accept: "+accept)
				if got.header.Get("Content-Type") != "application/xml" || !strings.Contains(got.body, "<status>OUT_OF_SERVICE</status>") {
					t.Errorf("%q: %v %s", accept, got.header, got.body)
				}
			}
			if got := n.want(200, http.MethodGet, "/eureka/v1/apps", ""); !strings.Contains(got.body, "<status>DOWN</status>") {
				t.Errorf("v1: %s", got.body)
			}
			if got := n.want(200, http.MethodGet, "/eureka/v1/apps", "", asJSON); !strings.Contains(got.body, "OUT_OF_SERVICE") {
				t.Errorf("v1: %s", got.body)
			}
			n.want(406, http.MethodGet, "/eureka/apps", "", "Accept: text/html")
		})
	})
}

func TestVirtualAddresses(t *testing.T) {
	t.Run("eureka 14 found by each name", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", func(i *eureka.Instance) { i.VIPAddress, i.SecureVIPAddress = "X,Y", "S" }))
			n.register(instance("a", "h:2", func(i *eureka.Instance) { i.VIPAddress, i.SecureVIPAddress = "Y", "S,X" }))
			n.register(instance("b", "h:3", func(i *eureka.Instance) { i.VIPAddress = "X"; i.Status = eureka.Down }))
			for path, want := range map[string][]string{
				"vips/X": {"A/h:1 UP", "B/h:3 DOWN"}, "vips/Y": {"A/h:1 UP", "A/h:2 UP"}, "svips/X": {"A/h:2 UP"}, "svips/S": {"A/h:1 UP", "A/h:2 UP"}, "vips/x": nil,
			} {
				for _, compact := range []string{"X-Eureka-Accept: full", askCompact} {
					got := n.list("/eureka/"+path, compact)
					if diff := cmp.Diff(want, ids(got)); diff != "" || got.VersionsDelta != -1 || got.HashCode != got.Hash() {
						t.Errorf("%s: %s, version %d, hash %s", path, diff, got.VersionsDelta, got.HashCode)
					}
				}
				xml := n.want(200, http.MethodGet, "/eureka/"+path, "")
				if apps, err := (eureka.Decoder{Format: eureka.XML}).Applications(strings.NewReader(xml.body)); err != nil || !cmp.Equal(want, ids(apps)) {
					t.Errorf("%s: %v in %s", path, err, xml.body)
				}
			}
		})
	})
	t.Run("eureka 15 unknown means none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if got := start(t).list("/eureka/vips/NONE"); got.Len() != 0 || got.HashCode != "" {
				t.Errorf("%v", got)
			}
		})
	})
}

func TestHeartbeat(t *testing.T) {
	t.Run("eureka 16 unknown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			got := n.want(404, http.MethodPut, "/eureka/apps/A/h:1?status=UP&lastDirtyTimestamp=1", "")
			if got.body != "" {
				t.Errorf("body %q", got.body)
			}
		})
	})
	for _, row := range []struct {
		name         string
		sync         bool
		query        string
		replicated   bool
		want         int
		showInstance bool
	}{
		{"eureka 17 the same", true, "?lastDirtyTimestamp=100", false, 200, false},
		{"eureka 17 older", true, "?lastDirtyTimestamp=99", false, 200, false},
		{"eureka 17 older, from a peer", true, "?lastDirtyTimestamp=99", true, 409, true},
		{"eureka 17 newer", true, "?lastDirtyTimestamp=101", false, 404, false},
		{"eureka 17 newer, from a peer", true, "?lastDirtyTimestamp=101", true, 404, false},
		{"eureka 18 older, not compared", false, "?lastDirtyTimestamp=99", true, 200, false},
		{"eureka 18 newer, not compared", false, "?lastDirtyTimestamp=101", false, 200, false},
		{"without a time", true, "", false, 200, false},
		{"no number", true, "?lastDirtyTimestamp=x", false, 500, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t, eager, func(s *registry.Settings) { s.Leases.SyncWhenTimestampDiffers = row.sync })
				n.register(instance("a", "h:1", dirty(100)))
				pass(80 * time.Second)
				headers := []string{asJSON}
				if row.replicated {
					headers = append(headers, fromPeer)
				}
				got := n.want(row.want, http.MethodPut, "/eureka/apps/A/h:1"+row.query, "", headers...)
				if strings.Contains(got.body, `"instanceId":"h:1"`) != row.showInstance || !row.showInstance && got.body != "" {
					t.Errorf("body %s", got.body)
				}
				pass(170 * time.Second)
				if n.get("A", "h:1") == nil {
					t.Error("the lease was not renewed")
				}
			})
		})
	}
	t.Run("C192 a single replicated heartbeat is told the newer instance", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", dirty(200), func(i *eureka.Instance) { i.Metadata = map[string]string{"new": "yes"} }))
			got := n.want(409, http.MethodPut, "/eureka/apps/A/h:1?lastDirtyTimestamp=100", "", asJSON, fromPeer)
			i, err := eureka.Decoder{Format: eureka.JSON}.Instance(strings.NewReader(got.body))
			if err != nil || i.Metadata["new"] != "yes" || i.LastDirty.UnixMilli() != 200 {
				t.Errorf("%v in %s", err, got.body)
			}
		})
	})
	t.Run("a peer's override comes with a newer instance", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			i := instance("a", "h:1", dirty(100))
			n.register(i)
			n.want(404, http.MethodPut, "/eureka/apps/A/h:1?lastDirtyTimestamp=101&overriddenstatus=OUT_OF_SERVICE", "", fromPeer)
			n.register(instance("a", "h:1", dirty(101)), fromPeer)
			n.wantStatus(i, eureka.OutOfService, eureka.OutOfService)
		})
	})
}

func TestStatus(t *testing.T) {
	const path = "/eureka/apps/A/h:1/status"
	t.Run("eureka 19 set, then deleted", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			i := instance("a", "h:1")
			n.register(i)
			n.want(200, http.MethodPut, path+"?value=OUT_OF_SERVICE", "")
			n.wantStatus(i, eureka.OutOfService, eureka.OutOfService)
			n.want(200, http.MethodDelete, path, "")
			n.wantStatus(i, eureka.Unknown, eureka.Unknown)
			if got := n.beat(i); got != 404 {
				t.Errorf("the next heartbeat: %d", got)
			}
		})
	})
	t.Run("eureka 20 deleted with a value", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			i := instance("a", "h:1")
			n.register(i)
			n.want(200, http.MethodPut, path+"?value=OUT_OF_SERVICE", "")
			n.want(200, http.MethodDelete, path+"?value=DOWN", "")
			n.wantStatus(i, eureka.Down, eureka.Unknown)
		})
	})
	t.Run("eureka 21 unknown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.want(404, http.MethodPut, path+"?value=UP", "")
			n.want(404, http.MethodDelete, path, "")
			n.register(instance("a", "h:1"))
			for _, value := range []string{"?value=bogus", "?value=up", "", "?value=UP&lastDirtyTimestamp=x"} {
				n.want(500, http.MethodPut, path+value, "")
			}
			n.want(500, http.MethodDelete, path+"?value=bogus", "")
		})
	})
	t.Run("an equal status sets no override", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			i := instance("a", "h:1")
			n.register(i)
			n.want(200, http.MethodPut, path+"?value=UP", "")
			n.wantStatus(i, eureka.Up, eureka.Unknown)
		})
	})
	t.Run("C196 the life of an override", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			i := instance("a", "h:1", dirty(1000))
			n.register(i)
			n.want(200, http.MethodPut, path+"?value=OUT_OF_SERVICE&lastDirtyTimestamp=5000", "")
			for range 3 {
				if got := n.beat(i); got != 200 {
					t.Errorf("heartbeat: %d", got)
				}
			}
			n.register(i)
			n.wantStatus(i, eureka.OutOfService, eureka.OutOfService)
			n.want(200, http.MethodDelete, path+"?value=UP", "")
			n.wantStatus(i, eureka.Up, eureka.Unknown)

			n.want(200, http.MethodPut, path+"?value=OUT_OF_SERVICE", "")
			n.want(200, http.MethodDelete, path+"?lastDirtyTimestamp=9000", "")
			n.wantStatus(i, eureka.Unknown, eureka.Unknown)
			if got := n.beat(i); got != 404 {
				t.Errorf("heartbeat: %d", got)
			}
			n.register(i) // with its own, older time
			n.wantStatus(i, eureka.Up, eureka.Unknown)
			if got := n.beat(i); got != 200 {
				t.Errorf("heartbeat: %d", got)
			}
			n.want(404, http.MethodPut, "/eureka/apps/A/other/status?value=UP", "")
			n.want(404, http.MethodPut, "/eureka/apps/OTHER/h:1/status?value=UP", "")
		})
	})
}

func TestMetadata(t *testing.T) {
	t.Run("eureka 22 entries are added", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1", func(i *eureka.Instance) { i.Metadata = map[string]string{"old": "1"} }))
			n.register(instance("a", "h:2"))
			for _, id := range []string{"h:1", "h:2"} {
				n.want(200, http.MethodPut, "/eureka/apps/A/"+id+"/metadata?k=v&old2=a+b", "")
				got := n.get("A", id).Metadata
				if got["k"] != "v" || got["old2"] != "a b" || id == "h:1" && got["old"] != "1" {
					t.Errorf("%s: %v", id, got)
				}
			}
			n.want(404, http.MethodPut, "/eureka/apps/A/other/metadata?k=v", "")
		})
	})
}

func TestCancel(t *testing.T) {
	t.Run("eureka 23 once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1"))
			n.want(200, http.MethodDelete, "/eureka/apps/a/h:1", "")
			n.want(404, http.MethodDelete, "/eureka/apps/a/h:1", "")
			if page := n.want(200, http.MethodGet, "/lastn", "").body; strings.Count(page, "A(h:1)") != 3 { // registered, and canceled twice
				t.Error(page)
			}
		})
	})
}

// odd are ids that have been trouble elsewhere.
func odd() []string {
	return []string{"test#1.[3.?]!", "host name:svc/é%2F#1:8080", "[2001:db8::1]:80", "a+b&c=d", "..", "h:1/status"}
}

func TestOddIDs(t *testing.T) {
	for _, id := range odd() {
		t.Run("eureka 24 C181 "+id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := start(t)
				metadata := map[string]string{
					"a.b": "1", "a b": `"quoted" & <odd>`, "<x>": "2", "@class": "java.lang.Runtime", "emoji": "🦊", "long": strings.Repeat("x", 10<<10),
				}
				n.register(instance("a", id, func(i *eureka.Instance) { i.HostName, i.Metadata = "h", metadata }))
				path := "/eureka/apps/a/" + url.PathEscape(id)
				if id == ".." {
					path = "/eureka/apps/a/%2E%2E"
				}
				n.want(200, http.MethodPut, path, "")
				n.want(200, http.MethodPut, path+"/status?value=OUT_OF_SERVICE", "")
				n.want(200, http.MethodPut, path+"/metadata?more=1", "")
				if got := ids(n.list("/eureka/apps")); len(got) != 1 || got[0] != "A/"+id+" OUT_OF_SERVICE" {
					t.Errorf("%q", got)
				}
				if got := n.list("/eureka/apps").Applications[0].Instances[0].Metadata; got["a b"] != metadata["a b"] || got["long"] != metadata["long"] || got["emoji"] != "🦊" {
					t.Errorf("metadata %.200v", got)
				}
				n.want(200, http.MethodGet, path, "")
				n.want(200, http.MethodDelete, path, "")
				if n.leases().Instances != 0 {
					t.Error("it is still there")
				}
			})
		})
	}
}

func TestInstances(t *testing.T) {
	t.Run("eureka 25 by id alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1"))
			if got := n.want(200, http.MethodGet, "/eureka/instances/h:1", "", asJSON, askCompact); !strings.Contains(got.body, `"leaseInfo"`) {
				t.Errorf("not full: %s", got.body)
			}
			n.want(404, http.MethodGet, "/eureka/instances/h:2", "", asJSON)
		})
	})
	t.Run("eureka 28 the id may be in the metadata", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			body := strings.Replace(document(instance("a", "x", func(i *eureka.Instance) {
				i.HostName, i.Metadata = "h", map[string]string{"instanceId": "foo"}
			})), `"instanceId":"x",`, "", 1)
			n.want(204, http.MethodPost, "/eureka/apps/A", body, sendJSON)
			if got := ids(n.list("/eureka/apps")); !cmp.Equal(got, []string{"A/h:foo UP"}) {
				t.Errorf("%q", got)
			}
		})
	})
}

func TestRoots(t *testing.T) {
	t.Run("eureka 26 wherever the dashboard is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.DashboardPath = "/dashboard" })
			n.want(200, http.MethodGet, "/eureka/apps", "")
			n.want(200, http.MethodGet, "/eureka/apps/", "")
			n.want(200, http.MethodGet, "/eureka/v2/apps/", "")
			n.want(200, http.MethodGet, "/dashboard", "")
			n.want(404, http.MethodGet, "/", "")
		})
	})
	t.Run("eureka 27 below a context path", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.ContextPath = "/ctx" })
			n.want(200, http.MethodGet, "/ctx/eureka/apps", "")
			n.want(200, http.MethodGet, "/ctx/", "")
			n.want(404, http.MethodGet, "/eureka/apps", "")
			n.want(404, http.MethodGet, "/ctxeureka/apps", "")
		})
	})
	t.Run("without a dashboard", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t, func(s *registry.Settings) { s.Dashboard = false })
			n.want(404, http.MethodGet, "/", "")
			n.want(404, http.MethodGet, "/eureka/nonsense", "")
			n.want(405, http.MethodPatch, "/eureka/apps/A/h", "")
			n.want(400, http.MethodPut, "/eureka/asg/g/status?value=ENABLED", "")
		})
	})
}

func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t, users)
		for _, path := range []string{"", "/liveness", "/readiness"} {
			if got := n.want(200, http.MethodGet, "/actuator/health"+path, ""); got.body != `{"status":"UP"}` {
				t.Errorf("%s: %s", path, got.body)
			}
		}
		starting := start(t, func(s *registry.Settings) { s.Peers = []string{"http://gone.test:1/eureka/"} })
		starting.want(200, http.MethodGet, "/actuator/health", "")
		starting.want(503, http.MethodGet, "/actuator/health/readiness", "")
	})
}

// A page in somebody's browser cannot register anything.
func TestCrossOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		body := document(instance("a", "h:1"))
		n.want(403, http.MethodPost, "/eureka/apps/A", body, sendJSON, "Sec-Fetch-Site: cross-site")
		n.want(403, http.MethodDelete, "/eureka/ghosts", "", "Origin: http://evil.test")
		n.want(204, http.MethodPost, "/eureka/apps/A", body, sendJSON, "Sec-Fetch-Site: same-origin")
		n.want(200, http.MethodGet, "/eureka/apps", "", "Sec-Fetch-Site: cross-site")
	})
}

func TestInformation(t *testing.T) {
	t.Run("status, overrides and health", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := start(t)
			n.register(instance("a", "h:1"))
			n.want(200, http.MethodPut, "/eureka/apps/A/h:1/status?value=DOWN", "")
			var overrides map[string]string
			decodeJSON(t, n.want(200, http.MethodGet, "/eureka/serverinfo/statusoverrides", "").body, &overrides)
			if overrides["h:1"] != "DOWN" {
				t.Errorf("%v", overrides)
			}
			var state registry.Status
			decodeJSON(t, n.want(200, http.MethodGet, "/eureka/status", "", asJSON).body, &state)
			if state.Leases.Instances != 1 || state.Leases.Hash != "DOWN_1_" || state.General.Uptime != "00:00" || state.Counters["registerCounter"] != 1 {
				t.Errorf("%+v", state)
			}
			pass(49*time.Hour + 5*time.Minute)
			if got := n.Status().General.Uptime; got != "2 days 01:05" {
				t.Errorf("uptime %s", got)
			}
			n.want(200, http.MethodGet, "/eureka/healthcheck", "")
		})
	})
}
