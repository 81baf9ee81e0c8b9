package filters_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/internal/race"
)

func TestRequestID(t *testing.T) {
	own := regexp.MustCompile("^[0-9a-f]{32}$")
	const uuid = "3f2b8c1e-7d1a-4b6e-9a57-0c9a1f0e7b11"
	tests := map[string]struct {
		trusted  bool
		received []string
		kept     bool
	}{
		"none is sent":                   {true, nil, false},
		"of a trusted proxy":             {true, []string{uuid}, true},
		"of others":                      {false, []string{uuid}, false},
		"of another form":                {true, []string{"Root=1-67891233/abcdef_~.:+=@"}, true},
		"two":                            {true, []string{uuid, uuid}, false},
		"as long as allowed":             {true, []string{strings.Repeat("a", 128)}, true},
		"longer":                         {true, []string{strings.Repeat("a", 129)}, false},
		"empty":                          {true, []string{""}, false},
		"C222 that would break a log":    {true, []string{`a" status=200 "`}, false},
		"C222 with an escape sequence":   {true, []string{"a\x1b[31m"}, false},
		"that would be markup":           {true, []string{"<b>"}, false},
		"a list":                         {true, []string{"a,b"}, false},
		"with a blank":                   {true, []string{"a b"}, false},
		"not of ASCII":                   {true, []string{"é"}, false},
		"that would be a placeholder":    {true, []string{"${jndi:ldap}"}, false},
		"that would be another encoding": {true, []string{"a%0d%0ab"}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var options []filtertest.Option
			if test.trusted {
				options = append(options, filtertest.Trust(trusting("192.0.2.0/24")))
			}
			for _, v := range test.received {
				options = append(options, filtertest.Header("X-Request-Id", v))
			}
			c := filtertest.New(t, "GET /", options...)
			(&filters.RequestIDs{Header: "X-Request-Id"}).Assign(c)
			switch {
			case test.kept && c.RequestID != test.received[0]:
				t.Errorf("it became %q", c.RequestID)
			case !test.kept && !own.MatchString(c.RequestID):
				t.Errorf("got %q", c.RequestID)
			}
			if sent := c.Out.Header["X-Request-Id"]; len(sent) != 1 || sent[0] != c.RequestID {
				t.Errorf("upstream gets %q", sent)
			}
			if answered := filtertest.Client(c).Header()["X-Request-Id"]; answered != nil {
				t.Errorf("the client gets %q", answered)
			}
		})
	}
}

func TestRequestIDsDiffer(t *testing.T) {
	seen := map[string]bool{}
	ids := &filters.RequestIDs{Header: "X-Request-Id"}
	like := filtertest.New(t, "GET /")
	var lent filters.Contexts
	for range 1000 {
		c := lent.New(like.Writer(), like.Request, like.Path, like.Start)
		ids.Assign(c)
		if seen[c.RequestID] {
			t.Fatalf("%s twice", c.RequestID)
		}
		seen[c.RequestID] = true
		lent.Recycle(c)
	}
}

func TestRequestIDIsSwitchedOff(t *testing.T) {
	c := filtertest.New(t, "GET /", filtertest.Header("X-Request-Id", "a"))
	(*filters.RequestIDs)(nil).Assign(c)
	if c.RequestID != "" || c.Out.Header.Get("X-Request-Id") != "a" {
		t.Errorf("id %q, upstream gets %q", c.RequestID, c.Out.Header["X-Request-Id"])
	}
}

func TestRequestIDIsEchoed(t *testing.T) {
	ids := &filters.RequestIDs{Header: "X-Request-Id", Echo: true}
	for name, answer := range map[string]func(*filters.Context){
		"with a head": func(c *filters.Context) { c.Writer().WriteHeader(204) },
		"with a body": func(c *filters.Context) { _, _ = c.Writer().Write([]byte("x")) },
		"over another's": func(c *filters.Context) {
			c.Writer().Header().Set("X-Request-Id", "upstream's")
			c.Writer().WriteHeader(200)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /")
			ids.Assign(c)
			answer(c)
			if got := filtertest.Client(c).Result().Header["X-Request-Id"]; len(got) != 1 || got[0] != c.RequestID {
				t.Errorf("the client gets %q, the id is %s", got, c.RequestID)
			}
		})
	}
}

func TestRequestIDAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	ids := &filters.RequestIDs{Header: "X-Request-Id"}
	like := filtertest.New(t, "GET /")
	var lent filters.Contexts
	got := testing.AllocsPerRun(320, func() {
		c := lent.New(like.Writer(), like.Request, like.Path, like.Start)
		ids.Assign(c)
		lent.Recycle(c)
	})
	if got != 0 { // nor is it one, rounded
		t.Errorf("%v allocations", got)
	}
}
