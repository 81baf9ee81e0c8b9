package eureka

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
)

func instancePath(i *Instance) string {
	return "apps/" + url.PathEscape(i.App) + "/" + url.PathEscape(i.Identity())
}

func dirtyQuery(i *Instance) url.Values {
	return url.Values{"lastDirtyTimestamp": {strconv.FormatInt(millis(i.LastDirty), 10)}}
}

func notFound(status int) bool { return status == http.StatusNotFound }

func registerCall(i *Instance) *call {
	return &call{
		name: "register", method: http.MethodPost, path: "apps/" + url.PathEscape(i.App),
		body: Encoder{}.AppendInstance(nil, i), also: notFound,
	}
}

func heartbeatCall(i *Instance) *call {
	query := dirtyQuery(i)
	query.Set("status", i.Status.String())
	return &call{name: "heartbeat", method: http.MethodPut, path: instancePath(i), query: query, also: notFound}
}

// cancelCall takes any answer: there is nothing more to do.
func cancelCall(i *Instance) *call {
	return &call{name: "cancel", method: http.MethodDelete, path: instancePath(i), also: func(int) bool { return true }}
}

func statusCall(i *Instance, s Status) *call {
	query := dirtyQuery(i)
	query.Set("value", s.String())
	return &call{name: "set status", method: http.MethodPut, path: instancePath(i) + "/status", query: query, also: notFound}
}

func clearStatusCall(i *Instance, s Status) *call {
	query := dirtyQuery(i)
	query.Set("value", s.String())
	return &call{name: "clear status", method: http.MethodDelete, path: instancePath(i) + "/status", query: query, also: notFound}
}

// listCall reads a list into list, which is nil afterwards unless the status is 200.
// fresh asks our own registry not to answer from its cache.
func listCall(name, path string, regions string, fresh bool, l Limits, list **Applications) *call {
	c := &call{name: name, method: http.MethodGet, path: path, read: func(res *http.Response, body io.Reader) (err error) {
		format := JSON // as asked for
		if media := res.Header.Get("Content-Type"); media != "" {
			if format, err = FormatOf(media); err != nil {
				return err
			}
		}
		*list, err = Decoder{Format: format, Limits: l}.Applications(body)
		return err
	}}
	if regions != "" {
		c.query = url.Values{"regions": {regions}}
	}
	if fresh {
		c.header = http.Header{"Cache-Control": {"no-cache"}}
	}
	return c
}

func vipPath(name string) string { return "vips/" + url.PathEscape(name) }
