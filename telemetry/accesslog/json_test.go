package accesslog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// The members of a JSON line are those that %{name}r knows, and say the same.
func TestMembersAreFields(t *testing.T) {
	for name, request := range map[string]func(testing.TB) *filters.Context{"served": served, "switched": switched, "failed": failed} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // time stands still
				s := accesslog.Settings{
					Format: accesslog.JSON,
					Trace:  func(*filters.Context) (string, string) { return "t1", "s1" },
					Cause:  func(c *filters.Context) string { return c.Err.Error() },
				}
				c := request(t)
				got := members(t, line(t, s, c))
				delete(got, "time")
				want := map[string]string{}
				for _, name := range fieldNames(t) {
					s.Format, s.Pattern = accesslog.Pattern, "%{"+name+"}r"
					if shown := line(t, s, c); shown != "-" {
						want[name] = shown
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func switched(tb testing.TB) *filters.Context {
	tb.Helper()
	c := served(tb)
	c.Tunnelled(time.Second, 3, 4)
	return c
}

// failed has come through a proxy and has lost its connection.
func failed(tb testing.TB) *filters.Context {
	tb.Helper()
	proxies := &filters.Trust{Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, MaxHops: 1}
	c := filtertest.New(tb, "GET /x", filtertest.RemoteAddr("192.0.2.9:1"), filtertest.Trust(proxies), filtertest.Header("X-Forwarded-For", "198.51.100.1"))
	c.Err = errors.New("gone")
	c.Abort()
	return c
}

// members are those of a JSON line, as texts.
func members(t *testing.T, line string) map[string]string {
	t.Helper()
	var all map[string]any
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&all); err != nil {
		t.Fatal(err, line)
	}
	texts := map[string]string{}
	for name, value := range all {
		texts[name] = fmt.Sprint(value)
	}
	return texts
}

// fieldNames are those that the error about another one lists.
func fieldNames(t *testing.T) []string {
	t.Helper()
	_, err := accesslog.New(accesslog.Settings{Format: accesslog.Pattern, Pattern: "%{none}r"}, nil)
	_, list, found := strings.Cut(err.Error(), "there are ")
	if !found {
		t.Fatal(err)
	}
	return strings.Split(list, ", ")
}
