package config_test

import "testing"

// The table of zuul.md 3.2.
func TestShorthand(t *testing.T) {
	for _, row := range []struct{ key, value, id, path, location string }{
		{"users", "/myusers/**", "myusers", "/myusers/**", "users"},
		{"users", "myusers/**", "myusers", "/myusers/**", "users"},
		{"other", "/test/**=http://h:7777/local", "test", "/test/**", "http://h:7777/local"},
		{"f", "/x/**=forward:/y", "x", "/x/**", "forward:/y"},
		{"legacy", "/**", "legacy", "/**", "legacy"},
		{"s", "/a/**/b = svc", "a/b", "/a/**/b", "svc"},
	} {
		t.Run("zuul 70 "+row.key+": "+row.value, func(t *testing.T) {
			c, _ := parse(t, "zuul.routes."+row.key+": "+row.value)
			r := c.Zuul.Routes[0]
			if r.ID != row.id || r.Path != row.path || r.Location != row.location {
				t.Errorf("id %q, path %q, location %q; want %q, %q, %q", r.ID, r.Path, r.Location, row.id, row.path, row.location)
			}
		})
	}
}
